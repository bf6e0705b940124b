"""One door for qrels and runs: objects of libraries, files and data sets; writing and inspecting them."""

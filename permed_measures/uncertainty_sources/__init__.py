"""How sure a number is: of its topics, of ties, of documents without a label, and of wrong labels."""

"""What people's labels of a sample say of a model's: how far both agree, and numbers corrected by them."""

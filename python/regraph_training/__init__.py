"""What the scripts beside this folder are made of. No module here prints; the scripts' mains do."""

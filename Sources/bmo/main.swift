print("bmo")

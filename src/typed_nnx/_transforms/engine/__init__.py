"""What every transform is made of."""

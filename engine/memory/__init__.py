"""Bytes one GPU holds, part by part."""

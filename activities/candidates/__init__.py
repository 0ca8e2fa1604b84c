"""What is known of a drug put forward for repurposing: which source answers which field, how their records
are read, and how what they say is joined. Knows nothing of Temporal."""

#!/bin/sh
# Creates the databases of a Temporal cluster and brings their schemas up to date. May be run again at any time.
set -eu
for pair in temporal:temporal temporal_visibility:visibility; do
  database=${pair%%:*}
  schema=/etc/temporal/schema/postgresql/v12/${pair##*:}/versioned
  sql() { temporal-sql-tool --plugin postgres12 --ep "$SQL_HOST" -p 5432 -u "$SQL_USER" --db "$database" "$@"; }
  sql create
  sql setup-schema -v 0.0 || true # it is there already
  sql update-schema -d "$schema"
done

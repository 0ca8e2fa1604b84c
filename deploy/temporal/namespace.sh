#!/bin/sh
# Makes the namespace, keeps finished runs for 90 days, and registers what runs are found by. May be run again.
set -eu
until temporal operator cluster health; do sleep 2; done
temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 2160h

# the server learns of a new namespace after some seconds
tries=0
until temporal operator namespace update --namespace "$TEMPORAL_NAMESPACE" --retention 2160h &&
  there=$(temporal operator search-attribute list --namespace "$TEMPORAL_NAMESPACE"); do
  tries=$((tries + 1))
  [ "$tries" -lt 30 ] || exit 1
  sleep 1
done
for pair in DeterminatorQuestion:Text DeterminatorMode:Keyword DeterminatorProfile:Keyword \
  DeterminatorPhase:Keyword DeterminatorStopReason:Keyword \
  DeterminatorIteration:Int DeterminatorTokens:Int DeterminatorConfidence:Double; do
  case $there in
    *"${pair%%:*}"*) ;;
    *) temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" \
         --name "${pair%%:*}" --type "${pair##*:}" ;;
  esac
done

/** What alert rules can watch. */
export const ALERT_KINDS = [
  'tunnel_offline',
  'error_rate',
  'latency_p95',
  'webhook_failing',
  'certificate',
  'budget',
  'new_address',
] as const;

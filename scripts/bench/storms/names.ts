/** The storms of the scenario `storms`, in the order in which they are measured. */
export const STORMS = [
  'delete-project',
  'delete-org',
  'writers',
  'nested-json',
  'log-ins',
  'har',
  'audit',
  'lists',
  'backup',
  'jwt-keys',
  'jwt-absurd',
  'routes',
  'locked',
  'fsync-50',
  'fsync-300',
  'fsync-1500',
  'fsync-25000',
  'start',
] as const;
export type StormName = (typeof STORMS)[number];

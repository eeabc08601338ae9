/**
 * Settings that this version reads and checks but does not act on. Whoever builds the feature deletes its row; nothing else changes.
 * Read by load.ts for its warnings.
 */
export interface NotYet {
  /** Path of a key or of a whole table. */
  readonly key: readonly string[];
  readonly feature: string;
}

export const notYet: readonly NotYet[] = [
  { key: ['edge', 'udp_ports'], feature: 'the UDP relay' },
  { key: ['edge', 'udp_host'], feature: 'the UDP relay' },
];

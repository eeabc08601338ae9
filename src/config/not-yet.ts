/**
 * Settings that this version reads and checks but does not act on. Whoever builds the feature deletes its row; nothing else changes.
 * Read by load.ts for its warnings.
 */
export interface NotYet {
  /** Path of a key or of a whole table. */
  readonly key: readonly string[];
  readonly feature: string;
  /** Only when the value is this one; otherwise whenever the key is set. */
  readonly value?: string;
  /** What happens instead, when that is not simply nothing. */
  readonly instead?: string;
}

export const notYet: readonly NotYet[] = [
  { key: ['edge', 'udp_ports'], feature: 'the UDP relay' },
  { key: ['edge', 'udp_host'], feature: 'the UDP relay' },
  {
    key: ['edge', 'tls', 'mode'],
    value: 'acme',
    feature: 'getting certificates by ACME',
    instead: 'a self-signed certificate is served until then',
  },
  { key: ['acme'], feature: 'getting certificates by ACME' },
  { key: ['edge_auth'], feature: 'identity checks of visitors' },
  { key: ['inspector'], feature: 'the request inspector' },
];

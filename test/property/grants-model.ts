/**
 * What tokens may do, told a second time and in few words: the measure for the property that no live session is without a valid grant.
 * It knows no database, no routing table and no sockets; grants-steps.ts tells it what was done.
 */
export type Project = 'default' | 'web';

export interface ModelToken {
  readonly id: string;
  readonly nonce: string;
  readonly apiKey: string;
  readonly kind: 'agent' | 'project' | 'master';
  /** Index of its master key, or null. */
  readonly parent: number | null;
  /** The first of those that rotation made of one another. */
  readonly lineage: number;
  /** The only project in which it may open tunnels, or null. */
  readonly project: Project | null;
  readonly names: readonly string[];
  readonly quota: number;
  readonly issuedAt: number;
  readonly expiresAt: number;
  graceEndsAt: number;
  revoked: boolean;
}

export class GrantsModel {
  readonly tokens: ModelToken[] = [];
  /** Cents per lineage; absent: no cap. */
  readonly caps = new Map<number, number | null>();
  /** Cents per lineage. */
  readonly #spent = new Map<number, number>();
  approved = true;

  /** May its agents be connected at this instant? */
  isValid(token: ModelToken, now: number): boolean {
    const { parent } = token;
    const parentLives = parent === null || this.isAlive(this.tokens[parent], now);
    return this.approved && token.kind !== 'master' && this.isAlive(token, now) && parentLives;
  }

  /** Neither revoked nor over, whatever its organization and its master key are. */
  isAlive(token: ModelToken | undefined, now: number): boolean {
    return token !== undefined && !token.revoked && now < Math.min(token.expiresAt, token.graceEndsAt);
  }

  /** May it serve this label, if it is valid? A label of the default project may look like one of another: either reading will do. */
  mayServe(token: ModelToken, label: string): boolean {
    const short = label.endsWith('-web') ? label.slice(0, -'-web'.length) : undefined;
    const names = [
      ...(token.project === 'web' ? [] : [label]),
      ...(token.project === 'default' || short === undefined ? [] : [short]),
    ];
    return names.some((name) => token.names.some((pattern) => fits(pattern, name)));
  }

  /** Nothing more may be spent: new tunnels are refused, and visitors of the old ones. */
  isBlocked(token: ModelToken): boolean {
    return this.#accountsOf(token).some(
      (lineage) => (this.#spent.get(lineage) ?? 0) >= (this.caps.get(lineage) ?? Infinity),
    );
  }

  /** The token has carried traffic of so many cents. */
  spend(token: ModelToken, cents: number): void {
    for (const lineage of this.#accountsOf(token)) this.#spent.set(lineage, (this.#spent.get(lineage) ?? 0) + cents);
  }

  /** Cents by the id of the first token of each lineage that has spent something. */
  get spent(): ReadonlyMap<string, number> {
    return new Map([...this.#spent].map(([lineage, cents]) => [this.tokens[lineage]?.id ?? '', cents]));
  }

  /** Its own lineage and that of its master key. */
  #accountsOf({ lineage, parent }: ModelToken): number[] {
    const master = parent === null ? undefined : this.tokens[parent];
    return [lineage, ...(master === undefined ? [] : [master.lineage])];
  }

  revoke(index: number): void {
    for (const [i, token] of this.tokens.entries()) if (i === index || token.parent === index) token.revoked = true;
  }

  /** The token was rotated and ends at this instant, with what it minted; at once when that is now. */
  retire(index: number, at: number): void {
    for (const [i, token] of this.tokens.entries()) {
      if (i === index || token.parent === index) token.graceEndsAt = Math.min(token.graceEndsAt, at);
    }
  }

  /** The project is gone, and its keys with it. */
  deleteProject(project: Project): void {
    for (const token of this.tokens) if (token.project === project) token.revoked = true;
  }
}

function fits(pattern: string, name: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith('-*')
    ? name.startsWith(pattern.slice(0, -1)) && name !== pattern.slice(0, -1)
    : name === pattern;
}

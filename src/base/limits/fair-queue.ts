/**
 * A queue in which parties take turns: those that wait longest first, one item each, however many another one has put in. Parties may have parties
 * of their own (`['org', 'person']`): an organization gets as many turns as another one, and its people share them. Bounded by who uses it.
 */
interface Party<T> {
  /** Items of its own and of its parts. */
  size: number;
  readonly items: T[];
  /** In the order of their turns. */
  readonly parts: Map<string, Party<T>>;
}

export class FairQueue<T> {
  readonly #all: Party<T> = makeParty();

  get size(): number {
    return this.#all.size;
  }

  /** At the end of its party's. */
  push(party: readonly string[], item: T): void {
    let at = this.#all;
    at.size++;
    for (const name of party) {
      let part = at.parts.get(name);
      if (part === undefined) at.parts.set(name, (part = makeParty()));
      at = part;
      at.size++;
    }
    at.items.push(item);
  }

  /** The next one, of the party whose turn it is. `may` is asked about parties, not about their parts: one that may not keeps its turn. */
  shift(may?: (name: string) => boolean): T | undefined {
    return take(this.#all, may);
  }

  /**
   * For a full queue: takes the newest item of the party that has most in it out, and of its parts likewise. Where `party` itself has as many, or would
   * have, the fullest of its own parts gives way to a smaller one; undefined when there is none: then it is the one that waits outside. Looks at each
   * party once.
   */
  displace(party: readonly string[]): T | undefined {
    let at = this.#all;
    const path: Array<{ readonly of: Party<T>; readonly name: string }> = [];
    let isTheirs = true;
    for (let depth = 0; at.parts.size > 0; depth++) {
      let [name, part] = fullestOf(at);
      const theirs = party[depth] ?? '';
      const own = at.parts.get(theirs);
      if (isTheirs && (own?.size ?? 0) + 1 >= part.size) {
        if (own === undefined) return undefined;
        [name, part] = [theirs, own];
      }
      isTheirs &&= name === theirs;
      path.push({ of: at, name });
      at = part;
    }
    if (isTheirs) return undefined;
    this.#all.size--;
    for (const { of, name } of path) {
      const part = of.parts.get(name);
      if (part !== undefined && --part.size === 0) of.parts.delete(name);
    }
    return at.items.pop();
  }
}

function fullestOf<T>({ parts }: Party<T>): [string, Party<T>] {
  let fullest: [string, Party<T>] | undefined;
  for (const part of parts) if (fullest === undefined || part[1].size > fullest[1].size) fullest = part;
  if (fullest === undefined) throw new Error('a party without parts');
  return fullest;
}

function take<T>(party: Party<T>, may?: (name: string) => boolean): T | undefined {
  // What is its own comes before what its parts have.
  if (party.items.length > 0) {
    party.size--;
    return party.items.shift();
  }
  for (const [name, part] of party.parts) {
    if (may !== undefined && !may(name)) continue;
    party.size--;
    const item = take(part);
    // Last of the next round, or gone.
    party.parts.delete(name);
    if (part.size > 0) party.parts.set(name, part);
    return item;
  }
  return undefined;
}

function makeParty<T>(): Party<T> {
  return { size: 0, items: [], parts: new Map() };
}

/**
 * A queue in which parties take turns: those that wait longest first, one item each, however many another one has put in. Parties may have parties
 * of their own (`['org', 'person']`): an organization gets as many turns as another one, and its people share them. Bounded by who uses it.
 */
interface Party<T> {
  readonly items: T[];
  /** In the order of their turns. */
  readonly parts: Map<string, Party<T>>;
}

export class FairQueue<T> {
  readonly #all: Party<T> = makeParty();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** At the end of its party's. */
  push(party: readonly string[], item: T): void {
    let at = this.#all;
    for (const name of party) {
      let part = at.parts.get(name);
      if (part === undefined) at.parts.set(name, (part = makeParty()));
      at = part;
    }
    at.items.push(item);
    this.#size++;
  }

  /** The next one, of the party whose turn it is. */
  shift(): T | undefined {
    if (this.#size === 0) return undefined;
    this.#size--;
    return take(this.#all);
  }
}

function take<T>(party: Party<T>): T | undefined {
  // What is its own comes before what its parts have.
  if (party.items.length > 0) return party.items.shift();
  const [first] = party.parts;
  if (first === undefined) return undefined;
  const [name, part] = first;
  const item = take(part);
  // Last of the next round, or gone.
  party.parts.delete(name);
  if (part.items.length > 0 || part.parts.size > 0) party.parts.set(name, part);
  return item;
}

function makeParty<T>(): Party<T> {
  return { items: [], parts: new Map() };
}

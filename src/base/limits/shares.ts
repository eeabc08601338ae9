/**
 * Places that several parties share, where another party decides how long each is held. A party may hold so many, and never more than are
 * free: few parties get all that they may, many get less each, and who holds nothing finds a place until as many parties as there are places
 * hold one. Nothing waits here. Used by the edge and by the control plane for what is sent down tunnels; as large as there are places.
 */
export class Shares {
  readonly #places: number;
  readonly #each: number;
  readonly #held = new Map<string, number>();
  #taken = 0;

  constructor({ places, each }: { readonly places: number; readonly each: number }) {
    this.#places = places;
    this.#each = each;
  }

  /** Places that are taken, by all. */
  get taken(): number {
    return this.#taken;
  }

  /** Places that the party holds. */
  of(party: string): number {
    return this.#held.get(party) ?? 0;
  }

  /** Would `take` give it one? */
  hasPlace(party: string): boolean {
    return this.of(party) < Math.min(this.#each, this.#places - this.#taken);
  }

  /** Takes a place, to be given back by what it returns, once. Undefined: there is none for this party now. */
  take(party: string): (() => void) | undefined {
    if (!this.hasPlace(party)) return undefined;
    this.#held.set(party, this.of(party) + 1);
    this.#taken++;
    return () => this.#give(party);
  }

  #give(party: string): void {
    this.#taken--;
    const left = this.of(party) - 1;
    if (left > 0) this.#held.set(party, left);
    else this.#held.delete(party);
  }
}

/**
 * Memory for request bodies that wait for a verdict about them. Shared by all connections of an edge: an organization gets at most half of it,
 * and never more than is free; one address an eighth. Counted by what has come, so that a trickle takes nothing from others.
 */
const MIB = 1 << 20;

export interface BodyBounds {
  readonly total: number;
  readonly perOrg: number;
  readonly perAddress: number;
}

export const BODY_BOUNDS: BodyBounds = { total: 64 * MIB, perOrg: 32 * MIB, perAddress: 8 * MIB };

/** Whose body it is: the organization of the tunnel, and the address that sends. */
export type BodyParty = readonly [orgId: string, address: string];

export class BodyRoom {
  readonly #bounds: BodyBounds;
  readonly #orgs = new Map<string, number>();
  readonly #addresses = new Map<string, number>();
  #taken = 0;

  constructor(bounds: BodyBounds = BODY_BOUNDS) {
    this.#bounds = bounds;
  }

  /** Bytes that are held now. */
  get taken(): number {
    return this.#taken;
  }

  /** False: there is no room for so many more. */
  take([orgId, address]: BodyParty, bytes: number): boolean {
    const { total, perOrg, perAddress } = this.#bounds;
    const ofOrg = (this.#orgs.get(orgId) ?? 0) + bytes;
    const ofAddress = (this.#addresses.get(address) ?? 0) + bytes;
    if (ofOrg > Math.min(perOrg, total - this.#taken) || ofAddress > perAddress) return false;
    this.#taken += bytes;
    this.#orgs.set(orgId, ofOrg);
    this.#addresses.set(address, ofAddress);
    return true;
  }

  give([orgId, address]: BodyParty, bytes: number): void {
    this.#taken -= bytes;
    lower(this.#orgs, orgId, bytes);
    lower(this.#addresses, address, bytes);
  }
}

function lower(counts: Map<string, number>, key: string, bytes: number): void {
  const left = (counts.get(key) ?? 0) - bytes;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}

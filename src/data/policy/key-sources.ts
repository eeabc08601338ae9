/**
 * The keys of issuers, fetched when a token asks for them and kept: one per node, shared by the policies of all tunnels. Keys that can't be
 * had are null, and whoever asked refuses.
 */
import type { JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { type FetchRules, fetchJson } from './key-fetch.ts';
import { keySetOf } from './key-set.ts';

/** Where keys are: a set at this address, or what this issuer's OpenID discovery names. */
export type KeyPlace = { readonly jwksUrl: string } | { readonly issuer: string };

/** Older keys are fetched anew before they are used. */
const FRESH_MS = 600_000;
/** While that fails, keys are good for so long after they were fetched: an issuer may be away for a while. */
const USABLE_MS = 3_600_000;
/** Between two attempts at one place, whatever tokens ask for. */
const FLOOR_MS = 30_000;
/** Places that are remembered: the one that was not used for the longest time is forgotten. */
const MAX_PLACES = 500;
/** Fetches at the same time, of all places together: beyond it there are no keys. */
const MAX_FETCHES = 32;

interface Source {
  readonly place: KeyPlace;
  keys: JWTVerifyGetKey | null;
  fetchedMs: number;
  attemptedMs: number;
  fetching: Promise<void> | null;
}

export class KeySources {
  readonly #rules: FetchRules;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #sources = new LRUCache<string, Source>({ max: MAX_PLACES });
  #fetches = 0;

  constructor(rules: FetchRules, deps: { readonly clock: Clock; readonly log: Logger }) {
    this.#rules = rules;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /**
   * The keys at this place, fetched if need be; null when they can't be had. `unlike`: keys in which a token's key is not: they are fetched
   * anew, unless that was tried within the last 30 s.
   */
  async keysAt(place: KeyPlace, unlike: JWTVerifyGetKey | null = null): Promise<JWTVerifyGetKey | null> {
    const source = this.#sourceOf(place);
    if (source.fetching !== null) await source.fetching;
    else if (this.#isOld(source, FRESH_MS) || source.keys === unlike) await this.#refresh(source);
    return this.#isOld(source, USABLE_MS) ? null : source.keys;
  }

  #isOld({ keys, fetchedMs }: Source, ms: number): boolean {
    return keys === null || this.#clock.monotonic() - fetchedMs >= ms;
  }

  #sourceOf(place: KeyPlace): Source {
    const name = JSON.stringify(place);
    let source = this.#sources.get(name);
    if (source === undefined) {
      source = { place, keys: null, fetchedMs: 0, attemptedMs: Number.NEGATIVE_INFINITY, fetching: null };
      this.#sources.set(name, source);
    }
    return source;
  }

  async #refresh(source: Source): Promise<void> {
    const now = this.#clock.monotonic();
    if (now - source.attemptedMs < FLOOR_MS || this.#fetches >= MAX_FETCHES) return;
    source.attemptedMs = now;
    this.#fetches++;
    source.fetching = this.#fetch(source).finally(() => {
      source.fetching = null;
      this.#fetches--;
    });
    await source.fetching;
  }

  async #fetch(source: Source): Promise<void> {
    const { place } = source;
    try {
      const url = 'issuer' in place ? await this.#discover(place.issuer) : place.jwksUrl;
      source.keys = keySetOf(await fetchJson(url, this.#rules));
      source.fetchedMs = this.#clock.monotonic();
    } catch (error) {
      this.#log.warn({ ...place, error: messageOf(error) }, 'the keys of an issuer could not be fetched');
    }
  }

  /** Where the keys of an issuer are, by its own word (OpenID Connect Discovery 1.0 §4): a document that names another issuer is none. */
  async #discover(issuer: string): Promise<string> {
    const document = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, this.#rules);
    const { issuer: named, jwks_uri: url } = (document ?? {}) as { issuer?: unknown; jwks_uri?: unknown };
    if (named !== issuer || typeof url !== 'string') throw new Error('the discovery document is not of this issuer');
    return url;
  }
}

/**
 * What the flags of an agent add in front of its tunnel (`--allow-cidr` …): narrower access than API and dashboard set, never wider. A server
 * applies all of it or refuses the claim. An older server would ignore it, so `welcome` lists what the server knows, and `bound` what is in force.
 */
import { z } from 'zod';

/** As the keys of `[tunnels.NAME]`; with dashes they are the flags. */
export const NARROWINGS = ['allow_cidr', 'deny_cidr'] as const;

/** Names of one list, in messages. */
export const narrowingNames = z.array(z.string().max(64)).max(64);

/** JSON text of one claim's narrowing: the rest of a message has room beside it. */
export const MAX_NARROWING_BYTES = 48 * 1024;
/** Networks of one list. */
export const MAX_NETWORKS = 100;

const networks = z.array(z.string().min(1).max(64)).min(1).max(MAX_NETWORKS);

/** Strict: an unknown key must not leave a tunnel open. */
export const narrowingSchema = z.strictObject({
  allow_cidr: networks.optional(),
  deny_cidr: networks.optional(),
});

/** What an agent asks for. */
export type AskedNarrowing = z.infer<typeof narrowingSchema>;

/** `allow_cidr` → `--allow-cidr`. */
export function flagOf(name: string): string {
  return `--${name.replaceAll('_', '-')}`;
}

/**
 * How an agent wants its server to write requests to the service, and to read what comes back: part of its claim. Only a server whose `welcome`
 * lists the feature `upstream` carries it out; the agent claims nothing at another one.
 */
import { z } from 'zod';

/** `name`, `name:port`, `[address]` or `[address]:port`. */
const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;
/** Segments without an empty one; `%` has its two digits. */
const PREFIX = /^(?:\/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+)+$/;
/** A segment that means "here" or "up", or that some services read as several. */
const UNSAFE = /%2f|%5c|\/(?:\.|%2e){1,2}(?:;[^/]*)?(?:\/|$)/i;
const MAX_PREFIX = 256;
/** Of a kept connection. */
export const MAX_KEEP_ALIVE_MS = 300_000;

/** Whether a Host header can say it. */
export function isUpstreamHost(text: string): boolean {
  return HOST.test(text);
}

/** Whether it can be put before the path of a request: `/app`, `/app/v2`. */
export function isPathPrefix(text: string): boolean {
  return text.length <= MAX_PREFIX && PREFIX.test(text) && !UNSAFE.test(text);
}

export const upstreamForm = z.object({
  /** In place of the public host; absent: the service gets that one. */
  host: z.string().refine(isUpstreamHost).optional(),
  /** Put before the path of each request. */
  prefix: z.string().refine(isPathPrefix).optional(),
  /** The service speaks TLS: its own URLs begin with `https`. */
  tls: z.boolean().optional(),
  /** How long a connection to the service is kept for the next request; 0: not at all. */
  keepAliveMs: z.int().min(0).max(MAX_KEEP_ALIVE_MS).optional(),
});

export type UpstreamForm = z.infer<typeof upstreamForm>;

/**
 * Several services behind one name: the paths of a claim's routes, in the agent's order. The server picks the route of each request and names it
 * in the preamble of the stream; which service that is, only the agent knows. Needs the feature `routes`.
 */
import { z } from 'zod';
import { upstreamForm } from './upstream-form.ts';

export const MAX_PATH_ROUTES = 32;
export const MAX_ROUTE_PATH = 256;
/** `/`, or segments without an empty one; `%` has its two digits. A parameter (`;v=1`) is no part of a route. */
const PATH = /^(?:\/|(?:\/(?:[A-Za-z0-9._~!$&'()*+,=:@-]|%[0-9A-Fa-f]{2})+)+)$/;

/**
 * What two parsers of a path can read differently: one takes it as it is, the other for a path elsewhere, which another route has. Segments that mean
 * "here" or "up", slashes that may be one or two, a backslash, either of them encoded (once or twice), control characters, overlong UTF-8,
 * a `%` without its digits.
 */
const AMBIGUOUS =
  /\\|\/\/|%(?:25)?(?:2f|5c)|\/(?:\.|%(?:25)?2e){1,2}(?=[/;]|%(?:25)?3b|$)|%[01][0-9a-f]|%7f|%c[01]|[\xc0\xc1]|(?:%e0|\xe0)(?:%[89]|[\x80-\x9f])|(?:%f0|\xf0)(?:%8|[\x80-\x8f])|%(?![0-9a-f]{2})/i;

/** Whether `path`, without its query, may not be matched with routes. */
export function isAmbiguousPath(path: string): boolean {
  return AMBIGUOUS.test(path);
}

/** The path as routes are compared: without parameters of segments, and decoded. */
export function comparedPath(path: string): string {
  const plain = path.replace(/(?:;|%3b)[^/]*/gi, '');
  return plain.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The path of a route as users write it: `/api/` means `/api`; letters beyond ASCII are written as browsers send them. */
export function plainPath(text: string): string {
  return text.replace(/[^ -~]+/gu, (part) => encodeURIComponent(part.toWellFormed())).replace(/(?<=.)\/$/, '');
}

export function isRoutePath(text: string): boolean {
  return text.length <= MAX_ROUTE_PATH && PATH.test(text) && !/%3b/i.test(text) && !isAmbiguousPath(text);
}

/** The first path that is there twice, as routes are compared; undefined: none is. */
export function repeatedPath(paths: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return paths.find((path) => seen.size === seen.add(comparedPath(path)).size);
}

const pathRoute = z.object({
  path: z.string().refine(isRoutePath),
  /** How the server writes requests to its service. */
  upstream: upstreamForm.optional(),
});

export const pathRoutes = z
  .array(pathRoute)
  .min(1)
  .max(MAX_PATH_ROUTES)
  .refine((routes) => repeatedPath(routes.map(({ path }) => path)) === undefined);

export type PathRouteForm = z.infer<typeof pathRoute>;

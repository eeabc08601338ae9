/** Routes by path as the user writes them, checked: for the command line, settings files and the SDK. */
import { isRoutePath, MAX_PATH_ROUTES, MAX_ROUTE_PATH, plainPath, repeatedPath } from '../../wire/path-routes.ts';

export interface RouteText {
  readonly path: string;
  readonly target: string;
}

/** What is no list of routes. The message says what one looks like. */
export class RouteError extends Error {
  override readonly name = 'RouteError';
}

/** With paths as the server compares them. `rest`: the target for all other paths; undefined: those are not found. @throws RouteError */
export function routeList(routes: readonly RouteText[], rest: string | undefined): readonly RouteText[] {
  const named = routes.map(({ path, target }) => ({ path: pathOf(path), target }));
  const all = rest === undefined ? named : [...named, { path: '/', target: rest }];
  if (all.length === 0) throw new RouteError('a list of routes needs a path and a target');
  if (all.length > MAX_PATH_ROUTES) throw new RouteError(`a tunnel has at most ${MAX_PATH_ROUTES} routes`);
  const repeated = repeatedPath(all.map(({ path }) => path));
  if (repeated === '/' && rest !== undefined)
    throw new RouteError('the target of the tunnel takes all other paths: leave it out, or the route "/"');
  if (repeated !== undefined) throw new RouteError(`"${repeated}" is there twice`);
  return all;
}

function pathOf(text: string): string {
  const path = plainPath(text);
  if (isRoutePath(path)) return path;
  const rule = `at most ${MAX_ROUTE_PATH} characters, no empty segment, no "." or "..", no ";", no query`;
  throw new RouteError(`"${text}" is not a path such as /api: ${rule}`);
}

/** Several services behind one tunnel, by path: as the user names them. The server picks the route of a request, by its number in this list. */
import { MAX_TEXT } from '../../wire/messages.ts';
import type { UpstreamForm } from '../../wire/upstream-form.ts';
import type { LocalTarget } from './target.ts';

export interface RouteSpec {
  /** `/api`, or `/` for all that no other route has. */
  readonly path: string;
  readonly target: LocalTarget;
  /** As of a tunnel. */
  readonly upstream?: UpstreamForm | undefined;
}

/** A tunnel, as far as its services go. */
export interface Served {
  /** With routes: the service of `/`, else that of the first one. */
  readonly target: LocalTarget;
  readonly routes?: readonly RouteSpec[] | undefined;
}

/** All services, each with its path; null: it is the only one. */
export function servicesOf({ target, routes }: Served): readonly { path: string | null; target: LocalTarget }[] {
  return routes ?? [{ path: null, target }];
}

/** The service of a route; `path` is null in a tunnel without routes. Undefined: there is none any more. */
export function serviceAt(served: Served, path: string | null): LocalTarget | undefined {
  return servicesOf(served).find((service) => service.path === path)?.target;
}

/** Where the tunnel leads, for people: `/api → localhost:8080, / → localhost:3000`. */
export function targetText({ target, routes }: Served): string {
  if (routes === undefined) return target.text;
  const text = routes.map((route) => `${route.path} → ${route.target.text}`).join(', ');
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}

/** What can't be reached, for people; `faults` by service. Undefined: all can, or nothing is known yet. */
export function faultText(served: Served, faults: ReadonlyMap<LocalTarget, string>): string | undefined {
  const texts = servicesOf(served).flatMap(({ path, target }) => {
    const fault = faults.get(target);
    if (fault === undefined) return [];
    return path === null ? fault : `${path}: ${fault}`;
  });
  return texts.length === 0 ? undefined : texts.join('; ');
}

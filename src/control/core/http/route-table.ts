/**
 * Which paths exist, with which methods, and which of them are public. Filled from the route definitions once all are mounted; read by the
 * bearer check (what is not marked public needs a bearer) and by the 404/405 answer.
 */
import { AppError } from '../../../base/errors.ts';
import { createMiddleware } from 'hono/factory';
import type { Permission } from '../rules/actor.ts';
import type { ApiEnv } from './context.ts';

export interface KnownRoute {
  readonly method: string;
  /** With `{name}` for parameters, as in OpenAPI. */
  readonly path: string;
  readonly isPublic: boolean;
  /** A master key is as good a bearer as a person's access token. */
  readonly takesMasterKeys?: boolean;
  /** So is a key for metrics. */
  readonly takesMetricKeys?: boolean;
  /** So is a key of an agent or a project. */
  readonly takesAgentKeys?: boolean;
  /** What the caller's role must allow before the request is looked at any closer. */
  readonly needs?: Permission | undefined;
  /** A request without a body does not fit. */
  readonly needsBody?: boolean;
}

interface Entry extends KnownRoute {
  readonly segments: readonly string[];
}

export class RouteTable {
  readonly #entries: Entry[] = [];

  add(route: KnownRoute): void {
    this.#entries.push({ ...route, method: route.method.toUpperCase(), segments: route.path.split('/') });
  }

  /** The route that answers this request, if there is one. HEAD is answered by GET. */
  find(method: string, path: string): KnownRoute | undefined {
    const wanted = method === 'HEAD' ? 'GET' : method;
    return this.#at(path).find((entry) => entry.method === wanted);
  }

  /** Why no handler answered: 405 when the path exists with another method, else 404. */
  refusal(method: string, path: string): AppError {
    const methods = this.methodsAt(path);
    if (methods.length === 0)
      return new AppError('not_found', `There is no route at ${path}. GET /openapi.json lists all of them.`);
    return new AppError('method_not_allowed', `The path does not support ${method}. Use ${methods.join(', ')}.`);
  }

  methodsAt(path: string): readonly string[] {
    return [...new Set(this.#at(path).map((entry) => entry.method))];
  }

  /** A path without parameters goes before one with them, as in OpenAPI: `/tokens/master` is no nonce. */
  #at(path: string): readonly Entry[] {
    const exact = this.#entries.filter((entry) => entry.path === path);
    if (exact.length > 0) return exact;
    const segments = path.split('/');
    return this.#entries.filter(
      (entry) =>
        entry.segments.length === segments.length &&
        entry.segments.every((part, i) => part === segments[i] || (part.startsWith('{') && segments[i] !== '')),
    );
  }
}

/** Refuses what the document does not have with 404, or 405 and `Allow`. Hono would take `DELETE /tokens/master` for `DELETE /tokens/{nonce}`. */
export function requireRoute(table: RouteTable) {
  return createMiddleware<ApiEnv>(async (c, next) => {
    const { method, path } = c.req;
    if (table.find(method, path) !== undefined) return next();
    const methods = table.methodsAt(path);
    if (methods.length > 0) c.header('Allow', methods.join(', '));
    throw table.refusal(method, path);
  });
}

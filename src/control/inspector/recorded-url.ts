/** Where a recorded request went, as a URL that a program can ask again. Called by the exports. */
import type { ShownRequest } from './views.ts';
import { valueOf } from '../core/rules/recorded-head.ts';

/** With the Host that the visitor named, its port included; the target as it was sent, which nothing has tidied up. */
export function urlOf({ record, request }: Pick<ShownRequest, 'record' | 'request'>): string {
  const { scheme, host } = record.trace;
  return `${scheme}://${valueOf(request.fields, 'host') ?? host}${pathOf(record.target)}`;
}

/** A target in origin form: also of one that names a host (RFC 9112 §3.2.2), or none but `*`. */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target;
  const [, rest] = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*(.*)$/is.exec(target) ?? [];
  if (rest === undefined) return `/${target}`;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

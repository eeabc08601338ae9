/** `--host-header`, `--path-prefix`, the base of a socket and the keep-alive time, as the claim says them to the server. */
import type { ParsedTarget } from '../../../agent/local/target.ts';
import { durationMs } from '../../../base/duration.ts';
import { isPathPrefix, isUpstreamHost, MAX_KEEP_ALIVE_MS, type UpstreamForm } from '../../../wire/upstream-form.ts';
import type { UpstreamInput } from './upstream-input.ts';

/** What of an UpstreamInput it reads. */
type FormInput = Pick<UpstreamInput, 'values' | 'mistake'>;

/** Undefined: nothing differs from what visitors send. @throws what `mistake` makes */
export function formOf(input: FormInput, parsed: ParsedTarget): UpstreamForm | undefined {
  const host = hostOf(input, parsed);
  const prefix = prefixOf(input, parsed);
  const keepAliveMs = keepAliveOf(input);
  if (host === undefined && prefix === undefined && keepAliveMs === undefined) return undefined;
  return {
    ...(host === undefined ? {} : { host }),
    ...(prefix === undefined ? {} : { prefix }),
    ...(parsed.target.tls ? { tls: true } : {}),
    ...(keepAliveMs === undefined ? {} : { keepAliveMs }),
  };
}

function hostOf({ values: { host_header: text }, mistake }: FormInput, { target }: ParsedTarget): string | undefined {
  if (text === undefined || text === 'preserve') return undefined;
  if (text !== 'rewrite') {
    if (isUpstreamHost(text)) return text;
    throw mistake('host_header', `"${text}" is not rewrite, preserve or a host name such as app.local:3000`);
  }
  if (target.socketPath !== undefined) return 'localhost';
  // As a browser on this machine would write it.
  const place = target.text.replace(/^https:\/\//, '');
  return place.replace(target.tls ? /:443$/ : /:80$/, '');
}

function prefixOf({ values: { path_prefix: text }, mistake }: FormInput, { base }: ParsedTarget): string | undefined {
  if (text !== undefined && base !== undefined)
    throw mistake('path_prefix', `the target has the base path ${base} already. Use one of the two`);
  const path = (text ?? base)?.replace(/\/$/, '');
  if (path === undefined || path === '') return undefined;
  if (isPathPrefix(path)) return path;
  const why = `"${path}" is not a path such as /app: no empty segment, no "." or "..", no query`;
  throw mistake(text === undefined ? 'target' : 'path_prefix', why);
}

function keepAliveOf({ values: { upstream_keep_alive_timeout: text }, mistake }: FormInput): number | undefined {
  if (text === undefined) return undefined;
  const ms = durationMs(text);
  if (ms === undefined || ms > MAX_KEEP_ALIVE_MS)
    throw mistake('upstream_keep_alive_timeout', `"${text}" is not a time from 0s to 5m, such as 30s`);
  return ms;
}

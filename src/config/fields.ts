/**
 * The kinds of value that settings are made of: text in, checked and typed value out. Used by the schemas in this folder only.
 * Each message says what is wrong and what to write instead; load.ts puts file, line and key in front.
 */
import { resolve } from 'node:path';
import { z } from 'zod';
import {
  type HostPort,
  isHostName,
  isLoopback,
  type PortRange,
  parseHostPort,
  parseListen,
  parseNetwork,
  parsePortRange,
} from '../base/net/addr.ts';
import { Secret } from '../base/secret.ts';

/** A text that `read` turns into a value; undefined from `read` is refused with `expected`. */
function parsed<T>(read: (text: string) => T | undefined, expected: string) {
  return z.string().transform((text, context): T => {
    const value = read(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: `"${text}" is not ${expected}` });
    return z.NEVER;
  });
}

/** `""` means "not set" and becomes null. */
function orNull<T>(read: (text: string) => T | undefined): (text: string) => T | null | undefined {
  return (text) => (text === '' ? null : read(text));
}

const LISTEN_FORM =
  'an address to listen on: write "127.0.0.1:8080", "[::1]:8080", or ":8080" for all addresses of this machine';

/** A listener that must exist. */
export const listen = parsed<HostPort>(parseListen, LISTEN_FORM);

/** A listener that `""` turns off. */
export const listenOrOff = parsed<HostPort | null>(orNull(parseListen), `${LISTEN_FORM}; "" turns it off`);

/** `host:port` to dial, kept as text; `""` means that it is computed. */
export const dialAddress = parsed<string | null>(
  orNull((text) => ((parseHostPort(text)?.port ?? 0) > 0 ? text : undefined)),
  'an address to dial: write "tunnel.example.com:7443"',
);

/** A public port range; `""` turns it off. */
export const portRange = parsed<PortRange | null>(
  orNull(parsePortRange),
  'a range of ports: write "20000-20099", with ports from 1 to 65535 and the lower one first; "" turns it off',
);

/** The host part alone of a listener. */
export const bindHost = parsed<string>(
  (text) => parseHostPort(text.includes(':') ? `[${text}]:0` : `${text}:0`)?.host,
  'an address to bind: write "127.0.0.1", or "0.0.0.0" for all interfaces',
);

/** A DNS name, lower case. */
export const domain = parsed<string>(
  (text) => (isHostName(text) ? text.toLowerCase() : undefined),
  'a domain name: write "tunnel.example.com", without scheme, port, "*." or a final dot',
);

/** A host that others dial: a name or an IP address; `""` means that it is computed. */
export const publicHost = parsed<string | null>(
  orNull((text) => parseHostPort(text.includes(':') ? `[${text}]:0` : `${text}:0`)?.host),
  'a host name or an IP address',
);

/** An http(s) URL without query and fragment; a trailing slash is dropped. */
function readUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || !/^https?:\/\//i.test(text)) return undefined;
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined;
  return url.href.replace(/\/+$/, '');
}

export const httpUrlOrNull = parsed<string | null>(
  orNull(readUrl),
  'a URL: write "https://host", with a port or a path where needed',
);

/** An address of a provider: secrets go there, so plain http stays on this machine. A trailing slash is dropped. */
export const providerUrl = parsed<string>((text) => {
  const url = readUrl(text);
  if (url === undefined || url.startsWith('https:')) return url;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  return isLoopback(host) || host.endsWith('.localhost') ? url : undefined;
}, 'a URL of a provider: write "https://host" or "https://host/path"; http is for this machine only');

/** As `httpUrlOrNull`, and https unless it is on this machine: secrets go there. */
export const providerUrlOrNull = z
  .literal('')
  .transform(() => null)
  .or(providerUrl);

/** A web origin, as browsers send it. */
export const origin = parsed<string>((text) => {
  const url = readUrl(text);
  return url !== undefined && new URL(url).origin === url ? url : undefined;
}, 'a web origin: write "https://app.example.com", without a path; "*" is refused because the API uses a cookie');

const LABEL = '{subdomain}';
/** Stands for `{subdomain}` while the URL parser looks at the rest. */
const SAMPLE = 'culvert-sample';

/** The template of a tunnel's public URL; the default port of its scheme is dropped. `""` means that it is computed. */
export const urlTemplate = parsed<string | null>(
  orNull((text) => {
    if (text.split(LABEL).length !== 2) return undefined;
    const url = readUrl(text.replace(LABEL, SAMPLE));
    if (url === undefined || new URL(url).origin !== url) return undefined;
    return new URL(url).hostname.startsWith(`${SAMPLE}.`) ? url.replace(SAMPLE, LABEL) : undefined;
  }),
  `a template of a public URL: write "https://${LABEL}.example.com", with ${LABEL} as its first label and no path`,
);

/** An IP network, kept as text for base/addr NetworkSet. */
export const network = parsed<string>(
  (text) => (parseNetwork(text) === undefined ? undefined : text),
  'an IP network: write "10.0.0.0/8" or "2001:db8::/32", with no host bits set',
);

/** `IP:port` or a lone IP (port 53), kept as text for the resolver. */
export const resolver = parsed<string>((text) => {
  const plain = text.includes(':') && !text.includes('[') && text.split(':').length > 2 ? `[${text}]:53` : text;
  const address = parseHostPort(/:\d+$/.test(plain) ? plain : `${plain}:53`);
  return address !== undefined && !isHostName(address.host) ? text : undefined;
}, 'the address of a DNS server: write "127.0.0.1:5353" or "1.1.1.1"');

/** A file or folder; made absolute against the working directory, as a shell would read it. */
export const path = z
  .string()
  .min(1, 'must be a path')
  .transform((text) => resolve(text));
export const pathOrNull = z.string().transform((text) => (text === '' ? null : resolve(text)));

/** A text that may be left out. */
export const textOrNull = z.string().transform((text) => (text === '' ? null : text));

/** An email address; `""` means "not set". */
export const emailOrNull = parsed<string | null>(
  orNull((text) => (/^[^\s@<>,?]{1,64}@[^\s@<>,?]{1,255}$/.test(text) ? text : undefined)),
  'an email address: write "ann@example.com", or leave it out',
);

/** A secret that may be left out. */
export const secretOrNull = z.string().transform((text) => (text === '' ? null : new Secret(text)));

/** A whole number within bounds. */
export function count(min: number, max: number) {
  return z.int().min(min).max(max);
}

/** Whole megabytes, or computed. */
export const megabytesOrAuto = z.union([count(0, 1_000_000), z.literal('auto')], {
  error: 'must be "auto" or whole megabytes, 0 to 1000000',
});

/** Seconds, fractions allowed. `orOff`: 0 turns the limit off. A day is the end of what makes sense for a timeout. */
export function seconds(options: { orOff?: boolean } = {}) {
  const number = z.number().max(86_400);
  return options.orOff === true ? number.min(0) : number.gt(0);
}

const SPAN_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time between two runs, from five minutes to a month: milliseconds. */
export const span = parsed<number>((text) => {
  const [, number, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const ms = Number(number) * (SPAN_MS[unit] ?? Number.NaN);
  return ms >= 5 * 60_000 && ms <= 31 * 86_400_000 ? ms : undefined;
}, 'a time from 5m to 31d: write "30m", "24h" or "7d"');

/** "" where it is computed: null. */
export const secondsOrNull = z
  .union([z.literal(''), z.number().min(0).max(3_600)], { error: 'must be a number from 0 to 3600, or ""' })
  .transform((value) => (value === '' ? null : value));

/**
 * Reads `mail.smtp_url`: where the mail server is, and how far it is trusted. Used by conflicts.ts, and by server/control-plane.ts.
 */
import { isLoopback } from '../base/net/addr.ts';
import { Secret } from '../base/secret.ts';

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** `from_start` for smtps. Else STARTTLS is used where offered; `required` refuses a server that does not offer it. */
  readonly tls: 'from_start' | 'required' | 'where_offered';
  /** Whether the server's certificate must be valid for its name. */
  readonly verify: boolean;
  readonly login: { readonly user: string; readonly password: Secret } | undefined;
}

const SUBMISSION_PORT = 587; // RFC 6409
const SMTPS_PORT = 465; // RFC 8314

/**
 * Undefined for what is no such URL.
 *
 * Certificates are verified: mails carry codes that open accounts. A relay on loopback is exempt, because its certificate is nearly always
 * self-signed and no attacker can sit in between; `?verify=no` exempts another. A password goes over TLS alone, loopback exempt again:
 * an attacker who strips the offer of STARTTLS would get it otherwise.
 */
export function readSmtpUrl(text: string): SmtpServer | undefined {
  if (!/^smtps?:\/\/[^/]/i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const implicit = url.protocol === 'smtps:';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const login = readLogin(url);
  const query = [...url.searchParams];
  if (host === '' || login === 'wrong' || url.port === '0') return undefined;
  if (!/^\/?$/.test(url.pathname) || url.hash !== '') return undefined;
  if (!query.every(([key, value]) => key === 'verify' && (value === 'yes' || value === 'no'))) return undefined;
  const near = isLoopback(host);
  return {
    host,
    port: url.port === '' ? (implicit ? SMTPS_PORT : SUBMISSION_PORT) : Number(url.port),
    tls: implicit ? 'from_start' : login !== undefined && !near ? 'required' : 'where_offered',
    verify: (url.searchParams.get('verify') ?? (near ? 'no' : 'yes')) === 'yes',
    login,
  };
}

function readLogin(url: URL): SmtpServer['login'] | 'wrong' {
  if (url.username === '' && url.password === '') return undefined;
  if (url.username === '' || url.password === '') return 'wrong';
  try {
    return { user: decodeURIComponent(url.username), password: new Secret(decodeURIComponent(url.password)) };
  } catch {
    return 'wrong'; // A % that starts no escape.
  }
}

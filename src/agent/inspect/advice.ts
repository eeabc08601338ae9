/**
 * What a refusal of a service says about how the tunnel is set up: development servers that refuse a foreign host name, and TLS servers that answer
 * plain HTTP, say so in the first bytes of the page. Watch asks about responses with status 400 and 403, and once per tunnel.
 */
import type { AdviceCode } from '../../wire/advice-codes.ts';
import type { RequestRecord } from './request-record.ts';

/** For the user, in the agent's output. */
export const ADVICE: Readonly<Record<AdviceCode, string>> = {
  host_header: 'your service refuses the public host name: try --host-header rewrite',
  allowed_hosts:
    'your service refuses the public host name: add it to the allowed hosts of the service (Rails: config.hosts)',
  tls: 'your service speaks TLS: use culvert https, or a target such as https://localhost:3000',
};

/** The pages of Rails have their style sheet before the words. */
const MAX_BYTES = 16_384;

interface Sign {
  readonly code: AdviceCode;
  /** In the body. */
  readonly words: string;
  /** In the head besides, where the words alone could be another's. */
  readonly server?: RegExp;
}

const SIGNS: readonly Sign[] = [
  { code: 'host_header', words: 'Blocked request. This host (' }, // Vite
  { code: 'host_header', words: 'Invalid Host header' }, // webpack-dev-server
  { code: 'host_header', words: 'DisallowedHost' }, // Django, with DEBUG
  { code: 'host_header', words: 'Invalid HTTP_HOST header' },
  { code: 'host_header', words: "Blocking request with non-local 'Host'" }, // Jupyter
  { code: 'host_header', words: '403 : Forbidden', server: /\r\nserver: *tornado/i }, // Jupyter, whose log alone has the words
  { code: 'allowed_hosts', words: 'Blocked host' }, // Rails, which looks at X-Forwarded-Host too
  { code: 'tls', words: 'Client sent an HTTP request to an HTTPS server' }, // Go
  { code: 'tls', words: 'The plain HTTP request was sent to HTTPS port' }, // nginx
  { code: 'tls', words: 'speaking plain HTTP to an SSL-enabled server port' }, // Apache
];

/** Undefined: the page says nothing of that kind. */
export function adviceOf(record: RequestRecord): AdviceCode | undefined {
  const body = record.responseBody.bytes.toString('latin1', 0, MAX_BYTES);
  const head = record.responseHead?.toString('latin1') ?? '';
  return SIGNS.find(({ words, server }) => body.includes(words) && (server === undefined || server.test(head)))?.code;
}

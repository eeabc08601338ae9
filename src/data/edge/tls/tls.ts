/**
 * TLS towards visitors: settings, and the certificates of all server names. Used by the HTTPS listener of data/edge/http.ts.
 */
import { constants, createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import {
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
  type Server,
  type TlsOptions,
  type TLSSocket,
} from 'node:tls';
import { DAY_MS } from '../../../base/clock.ts';
import { RecentMap } from '../../../base/limits/recent-map.ts';
import { CIPHER_SUITES } from '../../../base/net/tls-suites.ts';
import { ALPN as AGENT_PROTOCOL } from '../../../wire/messages.ts';
import { ACME_PROTOCOL, TlsAnswers } from './acme-answers.ts';
import { AgentHandshakes } from './agent-handshakes.ts';
import type { CertificateWaits } from './certificate-waits.ts';

export interface VisitorTls {
  /** PEM, chain included. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

/** Where the visitor of a handshake is, an IPv6 address by its network. */
type AddressOf = (socket: TLSSocket) => string;

/** Goes on with a handshake; without a context, with the default. */
type ChosenContext = (error: Error | null, context?: SecureContext) => void;

/** What is chosen of a visitor's offer, the first that it has. */
const WITH_HTTP2 = ['h2', 'http/1.1'];
const WITHOUT_HTTP2 = ['http/1.1'];

/** Contexts of names that visitors asked for last: 29 KB each, and a quarter of a millisecond to make again. */
const MAX_CONTEXTS = 2_000;

/** A pair that was looked at. */
interface Known {
  readonly pair: VisitorTls;
  /** Lower case; a wildcard as `*.` and what follows. */
  readonly names: readonly string[];
}

/**
 * Which certificate a visitor gets: that of exactly the name that it asks for, else a wildcard of one label, else the default. All of
 * them are replaced at once; a handshake that has begun ends with what it began with.
 */
export class VisitorCertificates {
  /** The same when certificates change, so that a new one costs no visitor its session. */
  #ticketKeys = randomBytes(48);
  readonly #sessionIdContext = 'culvert-edge';
  /** What authorities are shown while names are proven to them. */
  readonly answers = new TlsAnswers();
  /** What agents are shown that come by this listener. */
  readonly agents = new AgentHandshakes();
  readonly #waits: CertificateWaits | null;
  readonly #handshakeMs: number;
  #default: VisitorTls;
  #names: ReadonlyMap<string, Known> = new Map();
  /** A replacement looks only at what is new: of a thousand pairs one has changed. */
  #known: ReadonlyMap<VisitorTls, Known> = new Map();
  readonly #contexts = new RecentMap<Known, SecureContext>({ max: MAX_CONTEXTS });

  /**
   * A visitor that has not finished its handshake within `handshakeMs` is cut off; with `waits`, visitors of names without a certificate may
   * wait for one. Throws as `replace` does: at the start, not at the first visitor.
   */
  constructor(list: readonly VisitorTls[], of: { handshakeMs: number; waits: CertificateWaits | null }) {
    this.#waits = of.waits;
    this.#handshakeMs = of.handshakeMs;
    this.#default = this.replace(list);
  }

  /**
   * Takes this list and forgets the old one; the first is the default, which is returned, and of two for the same name the first counts.
   * Throws, with nothing changed, when the list is empty or a certificate and its key do not fit.
   */
  replace(list: readonly VisitorTls[]): VisitorTls {
    const [first] = list;
    if (first === undefined) throw new Error('the edge needs at least one certificate');
    const known = new Map<VisitorTls, Known>();
    const names = new Map<string, Known>();
    for (const pair of list) {
      const one = this.#known.get(pair) ?? look(pair);
      known.set(pair, one);
      for (const name of one.names) if (!names.has(name)) names.set(name, one);
    }
    for (const one of this.#contexts.keys()) if (!known.has(one.pair)) this.#contexts.delete(one);
    this.#known = known;
    this.#names = names;
    this.#default = first;
    return first;
  }

  /** For `tls.Server.setSecureContext` after each `replace`: what visitors get that name no server, or an unknown one. */
  defaultContext(): SecureContextOptions {
    return this.#contextOptions(this.#default);
  }

  /**
   * Makes new ticket keys once a day and gives them to the server: a stolen one opens what visitors by TLS 1.2 sent on one day,
   * and not since the start. The tickets of the last hour are worth nothing then: their visitors make a whole handshake. Returns the end.
   */
  rotateTicketKeys(server: Server): () => void {
    const timer = setInterval(() => {
      this.#ticketKeys = randomBytes(48);
      // Tickets are sealed by the context that a handshake begins with, and that is the default one, whatever name is asked for.
      server.setSecureContext(this.defaultContext());
    }, DAY_MS);
    timer.unref();
    return () => clearInterval(timer);
  }

  /** For `tls.createServer`. `isPlain`: connections with this server name speak HTTP/1.1 alone; '' for none. */
  serverOptions(http2: boolean, addressOf: AddressOf, isPlain: (serverName: string) => boolean): TlsOptions {
    const choose = this.#choose.bind(this, addressOf);
    const protocols = http2 ? WITH_HTTP2 : WITHOUT_HTTP2;
    const { answers, agents } = this;
    return {
      ...this.defaultContext(),
      handshakeTimeout: this.#handshakeMs,
      // Both are called as methods of the socket whose handshake it is.
      ALPNCallback(this: TLSSocket, offer) {
        if (answers.answer(this, offer)) return ACME_PROTOCOL;
        if (agents.answer(this, offer)) return AGENT_PROTOCOL;
        const spoken = isPlain(offer.servername) ? WITHOUT_HTTP2 : protocols;
        return spoken.find((protocol) => offer.protocols.includes(protocol));
      },
      SNICallback(this: TLSSocket, name, done) {
        choose(this, name, done);
      },
    };
  }

  #choose(addressOf: AddressOf, socket: TLSSocket, serverName: string, done: ChosenContext): void {
    if (this.answers.isAsking(socket) || this.agents.hasCertificate(socket)) return done(null);
    const answer = (): void => {
      let context: SecureContext | undefined;
      try {
        context = this.contextOf(serverName);
      } catch (error) {
        return done(error as Error);
      }
      done(null, context);
    };
    if (this.#waits === null || this.#find(serverName) !== undefined || this.answers.mayAsk(socket, serverName))
      return answer();
    const leave = this.#waits.wait({ name: serverName.toLowerCase(), address: addressOf(socket) }, () => {
      socket.off('close', gone);
      socket.setTimeout(this.#handshakeMs);
      answer();
    });
    const gone = (): void => leave?.();
    if (leave === null) return answer();
    socket.setTimeout(this.#waits.waitMs + this.#handshakeMs);
    socket.once('close', gone);
  }

  /** Undefined: the default. */
  contextOf(serverName: string): SecureContext | undefined {
    const known = this.#find(serverName);
    if (known === undefined) return undefined;
    let context = this.#contexts.get(known);
    if (context === undefined) {
      context = createSecureContext(this.#contextOptions(known.pair));
      this.#contexts.set(known, context);
    }
    return context;
  }

  #find(serverName: string): Known | undefined {
    const name = serverName.toLowerCase();
    const dot = name.indexOf('.');
    return this.#names.get(name) ?? (dot < 1 ? undefined : this.#names.get(`*${name.slice(dot)}`));
  }

  #contextOptions({ cert, key }: VisitorTls): SecureContextOptions {
    return {
      cert,
      key,
      minVersion: 'TLSv1.2',
      maxVersion: 'TLSv1.3',
      ciphers: CIPHER_SUITES,
      honorCipherOrder: true,
      // Of TLS 1.2: each costs a handshake that no limit counts, and nothing here asks for one.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      // Tickets stay on: without them a visitor that comes back pays a whole handshake (measured: 24 % fewer handshakes per second).
      sessionTimeout: 3600,
      ticketKeys: this.#ticketKeys,
      // The same in all contexts: a session is not taken up again in another one.
      sessionIdContext: this.#sessionIdContext,
    };
  }
}

/** Throws unless the key is that of the leaf. A context is made when a visitor asks for it: of a thousand names few are busy. */
function look(pair: VisitorTls): Known {
  const leaf = new X509Certificate(pair.cert);
  if (!leaf.checkPrivateKey(createPrivateKey(pair.key)))
    throw new Error(`the private key does not match the certificate of ${leaf.subject}: key values mismatch`);
  return { pair, names: namesOf(leaf) };
}

/** DNS names of the leaf. One without any (a common name alone) can be the default only, as browsers have it (RFC 6125). */
function namesOf(leaf: X509Certificate): string[] {
  return (leaf.subjectAltName ?? '')
    .split(', ')
    .filter((name) => name.startsWith('DNS:'))
    .map((name) => name.slice('DNS:'.length).toLowerCase());
}

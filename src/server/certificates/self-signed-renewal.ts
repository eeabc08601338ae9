/**
 * Remakes self-signed certificates while the server runs: a server that is up for a year would show one that has run out. Looked at once a day;
 * what is remade, and when, is certificates.ts. Made by start.ts.
 */
import { type Clock, DAY_MS } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { type Certificate, type CertificateSettings, keepOwnCertificates } from './certificates.ts';

export interface RenewalParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** What listens gets a remade one. */
  readonly use: {
    readonly edge: (pair: Certificate) => Promise<void>;
    readonly agents: (pair: Certificate) => Promise<void>;
  };
}

/** Begins; returns the end. */
export function renewSelfSigned(
  settings: CertificateSettings,
  served: { readonly edge: Certificate | null; readonly agents: Certificate },
  { clock, log, use }: RenewalParts,
): () => void {
  let { edge, agents } = served;
  let isClosed = false;
  const look = async (): Promise<void> => {
    const own = await keepOwnCertificates(settings, clock.now());
    if (isClosed) return;
    if (own.edge !== null && own.edge.cert !== edge?.cert) {
      await use.edge(own.edge);
      edge = own.edge;
      log.info({ listener: 'edge' }, 'renewed the self-signed certificate; open connections are not affected');
    }
    if (own.agents !== null && own.agents.cert !== agents.cert) {
      await use.agents(own.agents);
      agents = own.agents;
      log.info(
        { listener: 'agents' },
        'renewed the self-signed certificate with the same key; agents that pin it are not affected',
      );
    }
  };
  const timer = setInterval(() => {
    look().catch((error: unknown) => {
      log.warn({ error: messageOf(error) }, 'could not renew a self-signed certificate: retrying tomorrow');
    });
  }, DAY_MS);
  timer.unref();
  return () => {
    isClosed = true;
    clearInterval(timer);
  };
}

/**
 * Certificates by ACME, wired up: from settings to the options of the service (for control-plane.ts), and from the service to the data node
 * (for start.ts).
 */
import { isIP } from 'node:net';
import { systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { apiAtEdge } from '../../config/one-port.ts';
import type { Settings } from '../../config/schema.ts';
import type { CertificateNames } from '../../control/certificates/order-terms.ts';
import type { ControlOptions, ControlPlane } from '../../control/open.ts';
import { openAcme } from '../../control/providers/acme.ts';
import { alpnCertificate } from '../../control/providers/acme/alpn-certificate.ts';
import { DnsHook } from '../../control/providers/acme/dns-hook.ts';
import { DnsTxtRecords } from '../../control/providers/dns.ts';
import { messageOf } from '../../base/errors.ts';
import type { NodeAccess } from '../../plane/link.ts';
import type { Certificate } from './certificates.ts';

/** Null unless `edge.tls.mode` is "acme". */
export function acmeSetup(settings: Settings, log: Logger): ControlOptions['acme'] {
  const { acme, billing, edge } = settings;
  if (edge.tls.mode !== 'acme') return null;
  const { challenge, eab_kid: kid, eab_hmac_key: hmacKey } = acme;
  return {
    edgeDomain: edge.domain.toLowerCase(),
    challenge,
    ...serverNames(settings),
    // The hook writes into the DNS of edge.domain, and of no customer's domain.
    domainChallenge: challenge !== 'dns-01' ? challenge : edge.http_listen === null ? 'tls-alpn-01' : 'http-01',
    directoryUrl: acme.directory_url,
    email: acme.email,
    maxNewPerWeek: acme.max_new_per_week,
    plansCount: billing.mode !== 'mock',
    authority: openAcme({
      directoryUrl: acme.directory_url,
      caFile: acme.ca_file,
      eab: kid === null || hmacKey === null ? null : { kid, hmacKey },
      log,
      clock: systemClock,
    }),
    dns: dnsHook(settings, log),
    alpnCertificate,
  };
}

/** The host of the API, where one of its listeners shows a certificate for it, and what leads there. */
function serverNames(settings: Settings): Pick<CertificateNames, 'serverNames' | 'visitedNames'> {
  const at = apiAtEdge(settings);
  const host = new URL(settings.api.public_url).hostname.toLowerCase();
  const isOurs = (settings.api.tls || at !== undefined) && isIP(host) === 0 && host.includes('.');
  return { serverNames: isOurs ? [host] : [], visitedNames: at?.bareHost === undefined ? [] : [at.bareHost] };
}

/** Null where no name is proven by DNS records. */
function dnsHook({ acme, dns }: Settings, log: Logger): DnsHook | null {
  if (acme.challenge !== 'dns-01' || acme.dns_hook === null) return null;
  return new DnsHook({
    program: acme.dns_hook,
    records: new DnsTxtRecords(dns.resolvers),
    propagationMs: acme.dns_propagation_seconds * 1_000,
    log,
  });
}

export interface AcmeParts {
  readonly control: ControlPlane;
  readonly node: Pick<NodeAccess, 'setCertificates' | 'setChallenges'>;
  readonly domain: string;
  /** What is shown for names without a certificate, until there is a wildcard. */
  readonly fallback: Certificate | null;
  readonly log: Logger;
}

export interface ServedCertificates {
  /** Another one for names without a certificate, from now on. */
  useFallback(pair: Certificate): Promise<void>;
  /** Ends orders. */
  stop(): Promise<void>;
}

/** Shows what there is, and begins with what is missing. */
export function serveCertificates({ control, node, domain, log, ...parts }: AcmeParts): ServedCertificates {
  const wildcard = `*.${domain.toLowerCase()}`;
  let { fallback } = parts;
  let shown: ReadonlyMap<string, Certificate> = new Map();
  const show = async (): Promise<void> => {
    const first = shown.get(wildcard) ?? fallback;
    if (first !== null) await node.setCertificates([first, ...shown.values()]);
  };
  const stop = control.certificates.attach({
    setCertificates: (list) => {
      shown = list;
      show().catch((error: unknown) => {
        log.error({ error: messageOf(error) }, 'the edge did not accept the certificates');
      });
    },
    setChallenges: (list) => node.setChallenges(list),
  });
  control.certificates.tend();
  return {
    useFallback: (pair) => {
      fallback = pair;
      return show();
    },
    stop,
  };
}

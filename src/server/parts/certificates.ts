/** Certificates while the server runs: by ACME, self-signed, and from files that are renewed; shown by the data node and the API. */
import { systemClock } from '../../base/clock.ts';
import type { Lifecycle } from '../../base/process/lifecycle.ts';
import { apiAtEdge } from '../../config/one-port.ts';
import type { ControlPlane } from '../../control/open.ts';
import type { NodeAccess } from '../../plane/link.ts';
import { serveCertificates } from '../certificates/acme.ts';
import { ApiTls } from '../certificates/api-tls.ts';
import { CertificateWatch, type WatchedPair } from '../certificates/certificate-watch.ts';
import { type Certificate, type Certificates, pairsInUse, pinOf } from '../certificates/certificates.ts';
import { renewSelfSigned } from '../certificates/self-signed-renewal.ts';
import type { NodePart } from './planes.ts';
import { learnPorts, type Starting } from './starting.ts';

type Shown = Pick<NodeAccess, 'setCertificates' | 'setChallenges' | 'setAgentCertificate'>;

export interface CertificatesPart {
  readonly apiTls: ApiTls;
  readonly watch: CertificateWatch;
}

/** Resolves once files that were renewed while no server ran have been taken up. */
export async function tendCertificates(
  life: Lifecycle,
  starting: Starting,
  { control, node, certificates }: Omit<NodePart, 'failed' | 'apiSocket'> & { readonly control: ControlPlane },
): Promise<CertificatesPart> {
  const { settings, late } = starting;
  const log = starting.log.child({ part: 'certificates' });
  const apiTls = new ApiTls(() => late.apiUrl);
  if (certificates.edge !== null) apiTls.use([certificates.edge]);
  const shown = onBoth(node, apiTls);
  const { domain } = settings.edge;
  const served = serveCertificates({
    control,
    node: shown,
    domain,
    fallback: certificates.edge,
    log: starting.log,
  });
  life.onClose('certificates', () => served.stop());
  const use = {
    edge: (pair: Certificate) => served.useFallback(pair),
    agents: (pair: Certificate) => node.setAgentCertificate(pair),
  };
  const kept = { ...settings, apiHost: apiAtEdge(settings)?.host };
  life.onClose('self-signed certificates', renewSelfSigned(kept, certificates, { clock: systemClock, log, use }));
  learnPorts(starting, { addresses: node.addresses, certificates, control });
  const watch = new CertificateWatch(watchedPairs(starting, shown, certificates), { clock: systemClock, log });
  life.onClose('certificate files', () => watch.close());
  await watch.look();
  return { apiTls, watch };
}

/** The edge's certificates are those of the API too. */
function onBoth(node: NodeAccess, apiTls: ApiTls): Shown {
  return {
    setCertificates: async (list) => {
      await node.setCertificates(list);
      apiTls.use(list);
    },
    setChallenges: (list) => node.setChallenges(list),
    setAgentCertificate: (pair) => node.setAgentCertificate(pair),
  };
}

/** Which files are watched, and what takes a renewed pair of them. */
function watchedPairs(
  { settings, late }: Starting,
  node: Pick<NodeAccess, 'setCertificates' | 'setAgentCertificate'>,
  certificates: Certificates,
): WatchedPair[] {
  return pairsInUse(settings).map(({ certFile, keyFile, edge, agents }) => ({
    certFile,
    keyFile,
    current: agents ? certificates.agents : (certificates.edge ?? certificates.agents),
    use: async (pair) => {
      if (edge) await node.setCertificates([pair]);
      if (!agents) return;
      await node.setAgentCertificate(pair);
      late.pin = pinOf(pair.cert);
    },
  }));
}

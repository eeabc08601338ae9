/** Certificates by ACME for the edge. Reads tables of features above, so that tunnels and domains may show its state. */
import type { Slice } from '../core/slice.ts';
import { Certificates } from './service.ts';
import type { AcmeSetup } from './setup.ts';

export interface CertificateOptions {
  /** Where certificates of the edge come from; null unless `edge.tls.mode` is "acme". */
  readonly acme: AcmeSetup | null;
}

export interface CertificateServices {
  readonly certificates: Certificates;
}

export const certificates: Slice<CertificateServices, CertificateOptions> = {
  name: 'certificates',
  service: ({ store, sealer, log }, _use, { acme }) => ({
    certificates: new Certificates({ store, sealer, acme, log }),
  }),
  jobs: ({ certificates: of }) => [
    // A domain that was just bound waits for its certificate by this much.
    { name: 'certificates', everyMs: 5_000, run: () => of.tend() },
    { name: 'times of renewal', everyMs: 600_000, run: (stopping) => of.askTimes(stopping) },
  ],
};

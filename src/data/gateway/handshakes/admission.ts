/** Asks the control plane whether the key of a hello is good. Used by agent.ts. */
import { messageOf } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { AdmitAnswer, Link } from '../../../plane/link.ts';
import type { GrantChanges } from '../grant-changes.ts';

interface AdmissionDeps {
  readonly link: Pick<Link, 'admit'>;
  /** An answer may be out of date when it comes. */
  readonly host: { readonly changes: Pick<GrantChanges, 'count' | 'concern'> };
  readonly log: Logger;
}

export interface Applicant {
  readonly remoteIp: string;
  /** False: the session is over, or its deadline has passed. */
  waits(): boolean;
  /** Called at most once, while it waits. */
  settle(answer: AdmitAnswer): void;
}

/** Asks again when something of the key changed meanwhile; the deadline for the hello bounds how often. */
export function admit(token: string, deps: AdmissionDeps, applicant: Applicant): void {
  const { host, link, log } = deps;
  const asOf = host.changes.count;
  link.admit(token, applicant.remoteIp).then(
    (answer) => {
      if (!applicant.waits()) return;
      if (answer.ok && host.changes.concern(answer.grant, asOf)) admit(token, deps, applicant);
      else applicant.settle(answer);
    },
    (error: unknown) => {
      log.error({ error: messageOf(error) }, 'could not check an access key');
      const message = 'The server could not check the access key. The agent will retry.';
      if (applicant.waits()) applicant.settle({ ok: false, code: 'internal', message });
    },
  );
}

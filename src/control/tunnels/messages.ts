/**
 * How a claim or a new tunnel is refused: a code that a program acts on and a sentence for the reader of its output. To agents it is a
 * refusal, to people an error of the API. Used by claims/service.ts, claims/names.ts and service.ts.
 */
import type { ErrorCode } from '../../base/codes/api-errors.ts';
import { AppError } from '../../base/errors.ts';
import type { Refusal } from '../../plane/link.ts';
import { refuse } from '../access-keys/messages.ts';
import { MAX_PER_DAY, MAX_TUNNELS, type RowFault } from './rows.ts';

interface Words {
  readonly agents: Refusal['code'];
  readonly people: ErrorCode;
  readonly says: (label: string) => string;
}

const WORDS: Readonly<Record<RowFault, Words>> = {
  name_taken: {
    agents: 'duplicate_name',
    people: 'duplicate_name',
    says: (label) => `${label} is taken. Choose another subdomain.`,
  },
  system_name: {
    agents: 'duplicate_name',
    people: 'duplicate_name',
    says: (label) => `${label} is reserved by the server. Choose another subdomain.`,
  },
  other_project: {
    agents: 'duplicate_name',
    people: 'duplicate_name',
    says: (label) => `${label} has the suffix of another project. Use that project, or choose another subdomain.`,
  },
  no_port_free: {
    agents: 'no_port_free',
    people: 'conflict',
    says: () =>
      'No public TCP port is free: all are taken, or other organizations freed them in the last 24 hours. Delete one of your tcp tunnels, or ask the operator for more ports (edge.tcp_ports).',
  },
  port_share: {
    agents: 'quota_exceeded',
    people: 'conflict',
    says: () =>
      'You have your share of the public TCP ports: an organization, or all organizations that one user created, get at most three quarters. Delete a tcp tunnel first, or ask the operator for more ports (edge.tcp_ports).',
  },
  too_many: {
    agents: 'quota_exceeded',
    people: 'conflict',
    says: () => `The organization has ${MAX_TUNNELS} tunnels, which is the limit. Delete some first.`,
  },
  too_many_today: {
    // Not `overloaded`: the agent would come back for up to a day, and a job that opens tunnels in a loop would never hear why.
    agents: 'quota_exceeded',
    people: 'rate_limited',
    says: () =>
      `The organization reached the limit of ${MAX_PER_DAY} new tunnels a day. Use its existing ones, or try again later.`,
  },
};

/** Why a new tunnel could not be made, for an agent. */
export function refuseFault(fault: RowFault, label: string): Refusal {
  const { agents, says } = WORDS[fault];
  return refuse(agents, says(label));
}

/** The same for people. `retryAfterSeconds`: when there is room again, where time makes it. */
export function faultError(fault: RowFault, label: string, retryAfterSeconds: number): AppError {
  const { people, says } = WORDS[fault];
  return new AppError(people, says(label), people === 'rate_limited' ? { retryAfterSeconds } : {});
}

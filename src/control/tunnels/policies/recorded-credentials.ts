/**
 * Recorded requests as a policy can be asked about them again. What a visitor showed in `Authorization` is needed for `jwt_validation` alone, and not
 * always there: of a request that was not passed on it is left out of the record, and a service behind a password or a check of this server's own
 * tokens does not get it. Then its absence is not reported. Used by policy-test.ts.
 */
import type { Actions } from '../../../plane/policy.ts';
import type { TestedRequest } from '../../../plane/policy-test.ts';
import { MAX_HEADS, type RecordHead, type RecordItem, type RecordStore } from '../../db/usage/records.ts';
import { readHead } from '../../core/rules/recorded-head.ts';

/** Steps whose `Authorization` may have stayed at the edge. */
const TAKES_AUTHORIZATION: ReadonlySet<string> = new Set(['basic_gate', 'jwt_validation']);
/** Longer ones are no token that the edge looks at. */
const MAX_VALUE = 8_300;

interface Asked {
  readonly orgId: string;
  /** In the order of the answer. */
  readonly items: readonly RecordItem[];
  readonly policy: Actions;
}

/** Heads are read where the policy asks for what stands there. Throws as RecordStore.list. */
export async function playable(
  { orgId, items, policy }: Asked,
  records: Pick<RecordStore, 'heads'>,
): Promise<TestedRequest[]> {
  const found = new Map<string, readonly string[] | null>();
  if (policy.actions.some(({ kind }) => kind === 'jwt_validation')) {
    const outcomes = new Map(items.map(({ id, outcome }) => [id, outcome]));
    for (let at = 0; at < items.length; at += MAX_HEADS) {
      const ids = items.slice(at, at + MAX_HEADS).map(({ id }) => id);
      for (const head of await records.heads(orgId, ids))
        found.set(head.id, authorizationIn(head, outcomes.get(head.id)));
    }
  }
  return items.map(({ id, at, method, target, remoteIp }) => {
    return { id, at, method, target, clientIp: remoteIp, authorization: found.get(id) ?? null };
  });
}

/** Null: the record does not tell. */
export function authorizationIn(
  { requestHead, trace }: RecordHead,
  outcome: RecordItem['outcome'] | undefined,
): readonly string[] | null {
  const values = readHead(requestHead)
    .fields.filter(({ name }) => name.toLowerCase() === 'authorization')
    .map(({ value }) => value.slice(0, MAX_VALUE));
  // Left out of the record, with its name in it.
  if (values.includes('')) return null;
  if (values.length > 0 || outcome === 'refused') return values;
  return trace === null || trace.steps.some(({ step }) => TAKES_AUTHORIZATION.has(step)) ? null : [];
}

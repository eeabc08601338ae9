/** `deny`: requests for paths that begin with a prefix. */
import type { PolicyAction } from '../../plane/policy.ts';
import type { EdgeRefusal } from '../faults/fault.ts';
import { PathRules } from './path-rule.ts';
import type { PolicyRequest, Step } from './step.ts';

const DENIED: EdgeRefusal = { code: 'denied' };

/**
 * A step for each `deny` of a policy. They stand side by side in their chain and decide at once, so the first reads the path for all of
 * them: a path that services read in many ways costs its readings once, however many rules there are.
 */
export function denySteps(actions: readonly PolicyAction[]): Step[] {
  const prefixes = actions.flatMap((action) => (action.kind === 'deny' ? [action.pathPrefix] : []));
  const rules = new PathRules(prefixes);
  return prefixes.map((_prefix, i) => ({
    decide: ({ bytes, head }: PolicyRequest) => {
      if (i === 0) rules.read(bytes, head.pathStart, head.targetEnd);
      return rules.has(i) ? DENIED : null;
    },
  }));
}

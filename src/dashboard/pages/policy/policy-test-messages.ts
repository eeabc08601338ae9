/** The result of a policy test in sentences. Pure. */
import type { Schemas } from '../../api/types.ts';
import { countText } from '../../parts/format.ts';

export type PolicyTest = Schemas['PolicyTestResult'];

/** "Of the last 1,000 requests this would refuse 14." */
export function resultText({ tested, would_refuse: refused, not_tested: left }: PolicyTest): string {
  if (tested === 0)
    return left.length === 0
      ? 'No requests of this tunnel are recorded.'
      : 'None of the recorded requests could be tested.';
  const of = tested === 1 ? 'The one recorded request' : `Of the last ${countText(tested)} requests`;
  if (tested === 1) return refused === 0 ? `${of} would pass.` : `${of} would be blocked.`;
  return refused === 0 ? `${of}, the policy would block none.` : `${of}, the policy would block ${countText(refused)}.`;
}

const REASONS: Readonly<Record<PolicyTest['not_tested'][number]['reason'], string>> = {
  credentials_not_recorded: 'tokens are not recorded',
  keys_not_known: "the edge does not have the issuer's keys yet. It fetches them with the first token of that issuer",
  not_readable: 'they are longer than the current limits',
};

/** "2 more could not be judged: the record does not …" */
export function unknownTexts({ not_tested: left }: PolicyTest): string[] {
  return left.map(({ reason, count }) => `${countText(count)} more could not be tested: ${REASONS[reason]}.`);
}

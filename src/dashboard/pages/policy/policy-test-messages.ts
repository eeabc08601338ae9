/** What a test of a policy against recorded requests says, in sentences. Pure. */
import type { Schemas } from '../../api/types.ts';
import { countText } from '../../parts/format.ts';

export type PolicyTest = Schemas['PolicyTestResult'];

/** "Of the last 1,000 requests this would refuse 14." */
export function resultText({ tested, would_refuse: refused, not_tested: left }: PolicyTest): string {
  if (tested === 0)
    return left.length === 0
      ? 'No request of this tunnel is recorded.'
      : 'None of the recorded requests could be judged.';
  const of = tested === 1 ? 'The one recorded request' : `Of the last ${countText(tested)} requests`;
  if (tested === 1) return refused === 0 ? `${of} would pass.` : `${of} would be refused.`;
  return refused === 0 ? `${of} this would refuse none.` : `${of} this would refuse ${countText(refused)}.`;
}

const REASONS: Readonly<Record<PolicyTest['not_tested'][number]['reason'], string>> = {
  credentials_not_recorded: 'the record does not have the token that the visitor showed',
  keys_not_known:
    'the keys of the issuer are not known at the edge yet. They are fetched when a visitor first shows a token of it',
  not_readable: 'they are longer than the edge takes now',
};

/** "2 more could not be judged: the record does not …" */
export function unknownTexts({ not_tested: left }: PolicyTest): string[] {
  return left.map(({ reason, count }) => `${countText(count)} more could not be judged: ${REASONS[reason]}.`);
}

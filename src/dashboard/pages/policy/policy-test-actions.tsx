/** What each action would have refused, as bars of the same scale. */
import { Group, Progress, Stack, Text } from '@mantine/core';
import { countText } from '../../parts/format.ts';
import { askedOrder, entryOf, type Policy, ruleText } from './kinds.ts';
import type { PolicyTest } from './policy-test-messages.ts';

export function PolicyTestActions({ result, policy }: { readonly result: PolicyTest; readonly policy: Policy }) {
  const order = askedOrder(policy.actions);
  const rows = order.flatMap((index) => result.by_action.find((one) => one.index === index) ?? []);
  return (
    <Stack gap={6} component="ul" className="culvert-policy-actions" aria-label="By action">
      {rows.map(({ index, kind, enforced, would_refuse: count }) => {
        const action = policy.actions[index];
        return (
          <li key={index}>
            <Group justify="space-between" gap="md" wrap="nowrap">
              <Text size="sm" className="culvert-wrap">
                {entryOf(kind)?.title ?? kind}{' '}
                <span className="culvert-mono">{action === undefined ? '' : ruleText(action)}</span>
                {enforced ? '' : ' (only tried)'}
              </Text>
              <Text size="sm" className="culvert-number">
                {countText(count)}
              </Text>
            </Group>
            <Progress
              value={result.tested === 0 ? 0 : (100 * count) / result.tested}
              size="sm"
              color={enforced ? 'red.8' : 'yellow.6'}
              aria-hidden
            />
          </li>
        );
      })}
    </Stack>
  );
}

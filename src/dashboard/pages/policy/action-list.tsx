/** The actions in the order in which the edge asks them, with a word about that order. */
import { Stack, Text } from '@mantine/core';
import { ActionCard } from './action-card.tsx';
import type { DryRun } from './data.ts';
import { type Draft, policyIn, withChanged, without } from './draft.ts';
import { askedOrder } from './kinds.ts';
import type { Editor } from './use-editor.ts';

interface ActionListProps {
  readonly draft: Draft;
  readonly editor: Editor;
  /** Of the saved policy; none while another one is edited. */
  readonly dryRuns: readonly DryRun[];
  readonly isReadOnly: boolean;
}

export function ActionList({ draft, editor, dryRuns, isReadOnly }: ActionListProps) {
  const order = askedOrder(policyIn(draft).actions);
  return (
    <Stack gap="xs">
      {order.length > 1 && (
        <Text size="xs" c="dimmed">
          Asked from top to bottom, whatever order they were added in: addresses, paths, tokens, rate. The first that
          refuses counts, and what is refused uses up no rate. Headers are set at the end.
        </Text>
      )}
      <Stack gap="sm" component="ol" className="culvert-policy-actions">
        {order.map((index) => {
          const one = draft.actions[index];
          if (one === undefined) return null;
          return (
            <ActionCard
              key={one.key}
              action={one.action}
              index={index}
              faults={editor.faults}
              isReadOnly={isReadOnly}
              dryRun={dryRuns.find((run) => run.index === index)}
              onChange={(action) => editor.edit(withChanged(draft, one.key, action))}
              onRemove={() => editor.edit(without(draft, one.key))}
            />
          );
        })}
      </Stack>
    </Stack>
  );
}

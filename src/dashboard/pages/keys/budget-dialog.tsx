/** The monthly cap of a key: none, an amount, or nothing at all. */
import { Alert, Modal, Radio, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Token } from '../../api/types.ts';
import type { Asked } from '../../parts/dialogs/asked.ts';
import { useAction } from '../../parts/action.ts';
import { undoOf } from '../../parts/undo/undo.ts';
import { centsOf, dollarsOf, NO_AMOUNT } from '../../parts/forms/dollars.ts';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { FailureAlert } from '../../parts/loaded.tsx';
import { moneyText } from '../../parts/format.ts';
import { TOKENS, usePricing } from './key-query.ts';
import { buysText } from './key-state.ts';

export function BudgetDialog({ asked: { row: token, opened, close } }: { readonly asked: Asked<Token> }) {
  return (
    <Modal opened={opened} onClose={close} title={`Budget for the key ${token?.name ?? ''}`}>
      {token !== undefined && <BudgetForm token={token} onClose={close} />}
    </Modal>
  );
}

type Choice = 'none' | 'cap' | 'blocked';

function choiceOf(cap: number | null): Choice {
  if (cap === null) return 'none';
  return cap === 0 ? 'blocked' : 'cap';
}

function BudgetForm({ token, onClose }: { readonly token: Token; readonly onClose: () => void }) {
  const { client } = useApi();
  const { data: prices } = usePricing();
  const { monthlyBudgetUsdCents: cap, spentUsdCents: spent, kind } = token;
  const [choice, setChoice] = useState(choiceOf(cap));
  const [text, setText] = useState(cap === null || cap === 0 ? '' : dollarsOf(cap));
  const [fault, setFault] = useState<string>();
  const params = { path: { nonce: token.nonce } };
  const put = (monthlyBudgetUsdCents: number | null) =>
    answered(client.PUT('/tokens/{nonce}/budget', { params, body: { monthlyBudgetUsdCents } }));
  const save = useAction({
    run: put,
    undo: (after) =>
      undoOf({
        before: token,
        after,
        fields: ['monthlyBudgetUsdCents'],
        read: () => answered(client.GET('/tokens/{nonce}', { params })),
        write: () => put(cap),
      }),
    done: ({ monthlyBudgetUsdCents: now }) => doneText(token.name, now),
    touches: [TOKENS],
    onDone: onClose,
    tellsFailure: true,
  });
  const submit = (): void => {
    if (choice === 'none') return save.mutate(null);
    if (choice === 'blocked') return save.mutate(0);
    const cents = centsOf(text);
    if (cents === undefined || cents === null) return setFault(NO_AMOUNT);
    setFault(undefined);
    save.mutate(cents);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      noValidate
    >
      <Stack>
        <Text size="sm">
          {moneyText(spent)} spent this month (UTC)
          {kind === 'master' ? ' by all keys that it created. They share the cap.' : '.'} At the cap, visitors see an
          error and no new tunnels open, until you raise the cap or the month ends.
        </Text>
        <Radio.Group value={choice} onChange={(value) => setChoice(value)} label="Monthly budget">
          <Stack gap="xs" mt="xs">
            <Radio value="none" label="No cap" />
            <Radio value="cap" label="Cap at" />
            {choice === 'cap' && (
              <TextInput
                aria-label="US dollars per month"
                leftSection="$"
                inputMode="decimal"
                placeholder="12.50"
                maw={220}
                ml={32}
                value={text}
                error={fault}
                description={buysText(centsOf(text) ?? 0, prices?.usdCentsPerGb ?? null)}
                inputWrapperOrder={['label', 'input', 'description', 'error']}
                onChange={(event) => {
                  setText(event.currentTarget.value);
                  setFault(undefined);
                }}
              />
            )}
            <Radio value="blocked" label="Block key" />
          </Stack>
        </Radio.Group>
        {isBlocking(choice, text) && (
          <Alert color="yellow" variant="light" role="status">
            Visitors of its tunnels see an error immediately. Its agents stay connected.
          </Alert>
        )}
        {save.isError && <FailureAlert error={save.error} />}
        <FormEnd action="Set budget" isBusy={save.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

function isBlocking(choice: Choice, text: string): boolean {
  return choice === 'blocked' || (choice === 'cap' && centsOf(text) === 0);
}

function doneText(name: string, cap: number | null): string {
  if (cap === null) return `${name} no longer has a cap.`;
  return cap === 0 ? `${name} blocked.` : `Cap for ${name} set to ${moneyText(cap)} per month.`;
}

/** A name that is changed where it stands, among the other facts of the thing. */
import { Button, Group, Stack, TextInput, type TextInputProps } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useAction } from '../action.ts';
import { undoOf } from '../undo/undo.ts';
import { Refused } from './form-end.tsx';
import { showFaults } from './form-failure.ts';

interface Named {
  readonly name: string;
}

interface NameFormProps extends Pick<TextInputProps, 'description' | 'autoComplete' | 'maxLength'> {
  readonly name: string;
  /** What the button says: "Rename". */
  readonly action: string;
  /** Left out: it is shown, and not to be changed. */
  readonly run: ((body: Named) => Promise<Named>) | undefined;
  /** Reads it again, before the former name is restored. */
  readonly read: () => Promise<Named>;
  readonly done: (changed: Named) => string;
  /** Keys of queries that show it. */
  readonly touches: ReadonlyArray<readonly unknown[]>;
}

/** Begins anew with another name. */
export function NameForm(props: NameFormProps) {
  return <Form key={props.name} {...props} />;
}

function Form({ name, action, run, read, done, touches, ...input }: NameFormProps) {
  const [refused, setRefused] = useState<string>();
  const form = useForm({ initialValues: { name } });
  const rename = useAction({
    run: async (body: Named) => (await run?.(body)) ?? body,
    done,
    undo: (after) => {
      const before = { name };
      return run && undoOf({ before, after, fields: ['name'], read, write: () => run(before) });
    },
    touches,
    tellsFailure: true,
  });
  const save = (values: { name: string }): void => {
    setRefused(undefined);
    rename.mutate(values, { onError: (error) => setRefused(showFaults(form, error)) });
  };
  return (
    <form onSubmit={form.onSubmit(save)} noValidate>
      <Stack gap="xs">
        <Group align="flex-end" gap="xs">
          <TextInput
            label="Name"
            readOnly={run === undefined}
            flex="1 1 200px"
            maw={420}
            {...input}
            {...form.getInputProps('name')}
          />
          {run !== undefined && (
            <Button type="submit" variant="default" loading={rename.isPending} disabled={!form.isDirty()}>
              {action}
            </Button>
          )}
        </Group>
        <Refused>{refused}</Refused>
      </Stack>
    </form>
  );
}

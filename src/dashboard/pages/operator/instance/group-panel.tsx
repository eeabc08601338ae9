/** A group of settings with its buttons: save, test, back to the defaults. */
import { Alert, Button, Group as Row, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { answered } from '../../../api/client.ts';
import { useAccount, useApi } from '../../../api/context.tsx';
import { failureFrom } from '../../../api/failure.ts';
import { useAction } from '../../../parts/action.ts';
import { CopyLine } from '../../../parts/copy.tsx';
import { Refused } from '../../../parts/forms/form-end.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { type Changes, changesOf, type Group, type Instance, type Setting, type Value, valuesOf } from './fields.ts';
import { SettingField } from './setting-field.tsx';

interface GroupPanelProps {
  readonly group: Group;
  readonly instance: Instance;
  readonly settings: ReadonlyMap<string, Setting>;
}

/** Begins anew when what is saved has changed. */
export function GroupPanel(props: GroupPanelProps) {
  const saved = props.group.fields.map(({ key }) => props.settings.get(key));
  return <Form key={JSON.stringify(saved)} {...props} />;
}

function Form({ group, instance, settings }: GroupPanelProps) {
  const { name, title, about, fields } = group;
  const begun = valuesOf(fields, settings);
  const [values, setValues] = useState(begun);
  const [problem, setProblem] = useState<unknown>();
  const changes = changesOf(begun, values);
  const save = useSave(setProblem);
  const faults = faultsOf(
    problem,
    fields.map(({ key }) => key),
  );
  const set = fields.filter(({ key }) => settings.get(key)?.source === 'dashboard');
  return (
    <Panel title={title} about={about}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate(changes);
        }}
        noValidate
      >
        <Stack gap="sm">
          {fields.map((field) => {
            const setting = settings.get(field.key);
            if (setting === undefined) return null;
            return (
              <SettingField
                key={field.key}
                field={field}
                setting={setting}
                value={values[field.key] ?? ''}
                error={faults.of.get(field.key)}
                onChange={(value: Value) => {
                  setProblem(undefined);
                  setValues({ ...values, [field.key]: value });
                }}
              />
            );
          })}
          {(name === 'google' || name === 'github') && (
            <div>
              <Text size="sm">Redirect URL, to register at the provider:</Text>
              <CopyLine value={instance.redirect_urls[name]} what="the redirect URL" />
            </div>
          )}
          <Refused>{faults.rest}</Refused>
          <Row gap="xs">
            <Button type="submit" loading={save.isPending} disabled={Object.keys(changes).length === 0}>
              Save
            </Button>
            {set.length > 0 && (
              <Button
                variant="default"
                onClick={() => save.mutate(Object.fromEntries(set.map(({ key }) => [key, null])))}
              >
                Use defaults
              </Button>
            )}
          </Row>
          <Test name={name} changes={changes} />
        </Stack>
      </form>
    </Panel>
  );
}

function useSave(onProblem: (problem: unknown) => void) {
  const { client } = useApi();
  return useAction({
    run: (settings: Changes) => {
      onProblem(undefined);
      return answered(client.PATCH('/superadmin/instance', { body: { settings } })).catch((error: unknown) => {
        onProblem(error);
        throw error;
      });
    },
    done: 'Settings saved.',
    touches: [['superadmin'], ['auth-options']],
    tellsFailure: true,
  });
}

/** What was refused, by field; the rest is about none of them. */
function faultsOf(problem: unknown, keys: readonly string[]) {
  const of = new Map<string, string>();
  if (problem === undefined) return { of, rest: undefined };
  const { faults, message } = failureFrom(problem);
  // The first of a field: it is the one to mend first.
  for (const { path, message: text } of faults.toReversed()) of.set(path.replace(/^settings\./, ''), text);
  return { of, rest: [...of.keys()].some((key) => keys.includes(key)) ? undefined : message };
}

/** Tries the values as they are typed; nothing is saved. */
function Test({ name, changes }: { readonly name: Group['name']; readonly changes: Changes }) {
  const { client } = useApi();
  const { user } = useAccount();
  const [to, setTo] = useState(user.email);
  const test = useAction({
    run: () =>
      name === 'mail'
        ? answered(client.POST('/superadmin/instance/mail/test', { body: { to, settings: changes } }))
        : answered(
            client.POST('/superadmin/instance/providers/{provider}/test', {
              params: { path: { provider: name === 'github' ? 'github' : 'google' } },
              body: { settings: changes },
            }),
          ),
    tellsFailure: true,
  });
  if (name === 'server' || name === 'accounts') return null;
  return (
    <Stack gap="xs">
      {name === 'mail' && (
        <TextInput
          label="Send test email to"
          type="email"
          maw={480}
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
        />
      )}
      <Row gap="xs">
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          {name === 'mail' ? 'Send test email' : 'Test provider'}
        </Button>
        <Text size="sm" c="dimmed" className="culvert-wrap">
          With the values above, saved or not.
        </Text>
      </Row>
      {test.data !== undefined && (
        <Alert color={test.data.ok ? 'teal' : 'red'} variant="light" role="status" className="culvert-wrap">
          {test.data.detail}
        </Alert>
      )}
      {test.isError && <Refused>{failureFrom(test.error).message}</Refused>}
    </Stack>
  );
}

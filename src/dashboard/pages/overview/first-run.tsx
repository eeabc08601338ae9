/** The first run of a server: name, sign-up and mail, asked for once. For the superadmin alone. */
import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { useAction } from '../../parts/action.ts';
import { FailureAlert } from '../../parts/loaded.tsx';
import { Panel } from '../../parts/panel.tsx';
import {
  byKey,
  type Changes,
  changesOf,
  type Instance,
  NAME_FIELD,
  SIGN_UP_FIELD,
  valuesOf,
} from '../operator/instance/fields.ts';
import { INSTANCE_KEY, useInstance } from '../operator/instance/instance-part.tsx';
import { SettingField } from '../operator/instance/setting-field.tsx';

const FIELDS = [NAME_FIELD, SIGN_UP_FIELD];

export function FirstRun() {
  const { data } = useInstance();
  return data?.first_run === true ? <Questions instance={data} /> : null;
}

function Questions({ instance }: { readonly instance: Instance }) {
  const { client } = useApi();
  const settings = byKey(instance);
  const begun = valuesOf(FIELDS, settings);
  const [values, setValues] = useState(begun);
  const save = useAction({
    run: (changes: Changes) => answered(client.PATCH('/superadmin/instance', { body: { settings: changes } })),
    touches: [INSTANCE_KEY, ['auth-options']],
    tellsFailure: true,
  });
  return (
    <Panel
      title="Set up this server"
      about="You are its operator. You can change all of this later: Operator → Instance."
    >
      <Stack gap="sm">
        {FIELDS.map((field) => {
          const setting = settings.get(field.key);
          if (setting === undefined) return null;
          return (
            <SettingField
              key={field.key}
              field={field}
              setting={setting}
              value={values[field.key] ?? ''}
              error={undefined}
              onChange={(value) => setValues({ ...values, [field.key]: value })}
            />
          );
        })}
        <Text size="sm">
          Mail is {instance.mail}.{' '}
          {instance.mail === 'off' && 'Codes and links are in the log of the server, and no email is sent. '}
          <Anchor component={Link} href="/operator/instance" size="sm" underline="always">
            {instance.mail === 'off' ? 'Set up mail' : 'Check mail'}
          </Anchor>
        </Text>
        {save.isError && <FailureAlert error={save.error} />}
        <Group gap="xs">
          <Button loading={save.isPending} onClick={() => save.mutate(changesOf(begun, values))}>
            Save setup
          </Button>
          <Button variant="default" onClick={() => save.mutate({})}>
            Skip
          </Button>
        </Group>
      </Stack>
    </Panel>
  );
}

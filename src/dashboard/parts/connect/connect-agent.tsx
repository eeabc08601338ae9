/** The form for a new agent: protocol, port and name, with a command that changes as the user types. */
import { Button, Input, NumberInput, SegmentedControl, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlugConnected } from '@tabler/icons-react';
import { useState } from 'react';
import { useMay } from '../../api/context.tsx';
import { OneTimeSecretModal } from '../dialogs/one-time-secret.tsx';
import type { TunnelProtocol } from './agent-command.ts';
import { ConnectCommand } from './connect-command.tsx';

/** As the server wants them: `control/core/rules/labels.ts`. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const USUAL_PORTS = { http: 3000, https: 8443, tcp: 5432 } as const;
type Kind = keyof typeof USUAL_PORTS;

interface ConnectAgentProps {
  /** What a key is called that is made here. */
  readonly keyName: string;
  /** Called when a command is on the screen that can be run. */
  readonly onShown?: () => void;
  /** false: the page shows elsewhere how to install the agent. */
  readonly hasInstall?: boolean;
}

export function ConnectAgent({ keyName, onShown, hasInstall = true }: ConnectAgentProps) {
  const [kind, setKind] = useState<Kind>('http');
  const [port, setPort] = useState<number | string>('');
  const [name, setName] = useState('');
  const isName = name === '' || LABEL.test(name);
  const localPort = typeof port === 'number' ? port : USUAL_PORTS[kind];
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
        <Input.Wrapper label="Protocol" labelElement="div">
          <SegmentedControl
            fullWidth
            value={kind}
            onChange={setKind}
            data={[
              { value: 'http', label: 'HTTP' },
              { value: 'https', label: 'HTTPS' },
              { value: 'tcp', label: 'TCP' },
            ]}
            aria-label="Protocol"
          />
        </Input.Wrapper>
        <NumberInput
          label="Local port"
          placeholder={String(USUAL_PORTS[kind])}
          value={port}
          onChange={setPort}
          min={1}
          max={65_535}
          clampBehavior="strict"
          allowDecimal={false}
          allowNegative={false}
          allowLeadingZeros={false}
          hideControls
        />
        <TextInput
          label="Name (optional)"
          placeholder="random"
          value={name}
          onChange={(event) => setName(event.currentTarget.value.trim().toLowerCase())}
          error={isName ? undefined : 'Use a to z, digits and inner dashes, at most 63 characters.'}
          maxLength={63}
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
        />
      </SimpleGrid>
      <ConnectCommand
        protocol={kind satisfies TunnelProtocol}
        localPort={localPort}
        subdomain={isName && name !== '' ? name : undefined}
        names={['*']}
        keyName={keyName}
        hasInstall={hasInstall}
        {...(onShown !== undefined && { onShown })}
      />
      {kind === 'tcp' && (
        <Text size="xs" c="dimmed">
          A TCP tunnel gets a public port of the server, without the server&apos;s TLS.
        </Text>
      )}
    </Stack>
  );
}

/** Nothing for those who may only watch. */
export function ConnectButton() {
  const [opened, { open, close }] = useDisclosure(false);
  if (!useMay('member')) return null;
  return (
    <>
      <Button leftSection={<IconPlugConnected size={16} />} onClick={open}>
        Connect an agent
      </Button>
      <OneTimeSecretModal opened={opened} onClose={close} title="Connect an agent" size="xl">
        <ConnectAgent keyName="agent" />
      </OneTimeSecretModal>
    </>
  );
}

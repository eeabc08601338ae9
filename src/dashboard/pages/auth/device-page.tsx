/** `/cli?device_code=`, which `culvert login` opens: a person compares the words with those in the terminal, and lets the command line in. */
import { Card, Code, Text } from '@mantine/core';
import { useState } from 'react';
import type { Arrival } from '../../place.ts';
import { Approval, type Ending } from './approval.tsx';
import { checkPhrase } from './check-phrase.ts';
import { Frame } from './frame.tsx';
import { Step } from './step.tsx';

const TITLE = 'CLI login';

export function DevicePage({ arrival }: { readonly arrival: Arrival }) {
  const [ending, setEnding] = useState<Ending>();
  const { deviceCode = '' } = arrival;
  const phrase = checkPhrase(deviceCode);
  if (phrase === undefined)
    return (
      <Frame title={TITLE} heading="This link is incomplete">
        <Text size="sm">
          Run <Code>culvert login</Code> and open the full URL that it prints.
        </Text>
      </Frame>
    );
  if (ending !== undefined)
    return (
      <Frame title={TITLE}>
        <Ended ending={ending} />
      </Frame>
    );
  return (
    <Frame title={TITLE} heading="Authorize CLI?">
      <Card className="culvert-auth-phrase" padding="md">
        <Text size="sm">Your terminal shows these three words:</Text>
        <Text className="culvert-auth-three">{phrase}</Text>
        <Text size="xs" c="dimmed">
          If the words differ, or you did not just run <Code>culvert login</Code>, close this page: the link may be an
          attack.
        </Text>
      </Card>
      <Approval arrival={arrival} deviceCode={deviceCode} onEnd={setEnding} />
    </Frame>
  );
}

function Ended({ ending }: { readonly ending: Ending }) {
  if (ending.how === 'cancelled')
    return (
      <Step title="Canceled" order={1}>
        <Text size="sm">The CLI gets no access. Close this page, and stop the command with Ctrl-C.</Text>
      </Step>
    );
  return (
    <Step title="CLI authorized" order={1}>
      <Text size="sm">Return to your terminal. You can close this page.</Text>
      <Text size="sm" c="dimmed" className="culvert-wrap">
        The key is named <span>{ending.label}</span>. <Code>culvert logout</Code> ends it.
      </Text>
    </Step>
  );
}

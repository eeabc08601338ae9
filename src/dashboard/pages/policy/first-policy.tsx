/** What stands where a tunnel has no policy yet: what one does, and some to start from. */
import { SimpleGrid, Text, UnstyledButton } from '@mantine/core';
import { type Example, EXAMPLES } from './examples.ts';

interface FirstPolicyProps {
  readonly protocol: string;
  readonly onPick: (example: Example) => void;
}

export function FirstPolicy({ protocol, onPick }: FirstPolicyProps) {
  const fitting = EXAMPLES.filter(({ forTcp }) => protocol !== 'tcp' || forTcp === true);
  return (
    <>
      <Text size="sm">Every visitor gets in now. Start from an example, or add an action of your own:</Text>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        {fitting.map((example) => (
          <UnstyledButton key={example.title} className="culvert-policy-example" onClick={() => onPick(example)}>
            <Text size="sm" fw={500}>
              {example.title}
            </Text>
            <Text size="xs" c="dimmed">
              {example.about}
            </Text>
          </UnstyledButton>
        ))}
      </SimpleGrid>
    </>
  );
}

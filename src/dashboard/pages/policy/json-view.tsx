/** The policy as text. What is typed is read at once; while it can't be read it says why, and nothing else changes. */
import { Textarea } from '@mantine/core';

interface JsonViewProps {
  readonly text: string;
  /** Why it can't be read. */
  readonly fault: string | undefined;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
}

export function JsonView({ text, fault, isReadOnly, onChange }: JsonViewProps) {
  return (
    <Textarea
      label="Policy as JSON"
      description="As in the API. “enforce”: false makes an action log only."
      value={text}
      error={fault}
      readOnly={isReadOnly}
      autosize
      minRows={8}
      maxRows={28}
      spellCheck={false}
      classNames={{ input: 'culvert-mono' }}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}

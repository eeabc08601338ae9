CREATE TABLE `webhook_attempts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`sequence` integer NOT NULL,
	`receiver_id` text NOT NULL,
	`attempt` integer NOT NULL,
	`at` integer NOT NULL,
	`latency_ms` integer NOT NULL,
	`status` integer,
	`error` text,
	`content_type` text,
	`size` integer NOT NULL,
	`body` blob,
	FOREIGN KEY (`sequence`) REFERENCES `webhook_deliveries`(`sequence`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhook_attempts_delivery` ON `webhook_attempts` (`sequence`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_attempts_bodies` ON `webhook_attempts` (`receiver_id`,`id`) WHERE body IS NOT NULL;--> statement-breakpoint
DROP INDEX `webhook_forwards_failing`;--> statement-breakpoint
ALTER TABLE `webhook_forwards` ADD `is_test` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `webhook_forwards_failing` ON `webhook_forwards` (`receiver_id`,`state`,`attempts`) WHERE (is_test = 0 AND (state = 'failed' OR (state = 'waiting' AND attempts >= 3)));--> statement-breakpoint
ALTER TABLE `capability_tokens` ADD `last_used_ip` text;--> statement-breakpoint
ALTER TABLE `webhook_deliveries` ADD `is_test` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `webhook_receivers` ADD `redelivery_key` text;--> statement-breakpoint
ALTER TABLE `webhook_receivers` ADD `redelivery_count` integer;
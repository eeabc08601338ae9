CREATE TABLE `ended_sessions` (
	`agent_id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`token_id` text NOT NULL,
	`remote_ip` text NOT NULL,
	`hostname` text NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer NOT NULL,
	`reason` text NOT NULL,
	`message` text NOT NULL,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `ended_sessions_org` ON `ended_sessions` (`org_id`,`ended_at`);--> statement-breakpoint
CREATE INDEX `ended_sessions_ended` ON `ended_sessions` (`ended_at`);--> statement-breakpoint
CREATE TABLE `metric_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`org_id` text NOT NULL,
	`name` text NOT NULL,
	`key_hash` text NOT NULL,
	`created_by` text,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`org_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `metric_keys_key_hash` ON `metric_keys` (`key_hash`);--> statement-breakpoint
CREATE INDEX `metric_keys_org` ON `metric_keys` (`org_id`);
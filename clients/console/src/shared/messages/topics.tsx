import {
  NotificationChannel,
  type NotificationPreference,
  NotificationTopic,
} from "@berthhq/client";
import type { ReactNode } from "react";
import { useText } from "../i18n";
import { DataTable } from "../ui/data-table";
import { notificationTexts } from "./texts";

const channels = [
  NotificationChannel.PUSH,
  NotificationChannel.SMS,
  NotificationChannel.EMAIL,
] as const;

interface TopicsProps {
  preferences: readonly NotificationPreference[];
  /** Whether the member is staff: others get no messages for staff. */
  staff: boolean;
  className: string | undefined;
  show: (topic: NotificationTopic, channel: NotificationChannel) => ReactNode;
}

/** The topics of messages to staff. */
const ofStaff = [NotificationTopic.STAFF_NOTE, NotificationTopic.ACCESS_CHANGED];

/** Whether a topic's messages on a channel cannot be turned off. */
export const isMandatory = (topic: NotificationTopic, channel: NotificationChannel): boolean =>
  topic === NotificationTopic.ACCESS_CHANGED && channel === NotificationChannel.EMAIL;

/** The topics of a member's messages, with what is chosen for each channel. */
export function Topics({ preferences, staff, className, show }: TopicsProps) {
  const t = useText(notificationTexts);
  const topics = [...new Set(preferences.map(({ topic }) => topic))];
  return (
    <DataTable
      rows={topics.filter((topic) => staff || !ofStaff.includes(topic)).map((topic) => ({ topic }))}
      id="topic"
      className={className}
      columns={[
        { title: t.notifications.topic, show: ({ topic }) => t.notifications.topics[topic] },
        ...channels.map((channel) => ({
          title: t.notifications.channels[channel],
          show: ({ topic }: { topic: NotificationTopic }) => show(topic, channel),
        })),
      ]}
    />
  );
}

<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name></name>
    <message>
        <source>Nothing is being computed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SAPO Desktop goes on here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quit it from the menu of this icon.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A bug in the window: {error}. The node is not touched by it; logs/window.log says where.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Round {round}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>my reward {value}</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>swarm {value} ({low} to {high}), measured on %n peer(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>held-out {value} (round {round})</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{task}: last round {share}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sharing publishes, under this node&apos;s key, the answers that its model gives, and those that you type where it asks you a question (it says so each time): the name of the task, the time in steps of ten minutes, the texts, and the setting `label` if you gave one. No question of yours, no file and no other name is among them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>They are placed in the public domain (CC0), anybody may keep and pass them on, and they cannot be called back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whoever this node links to sees its internet address beside its key, and is told its round, its mean reward, and how many of their answers it used.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sharing can be ended at any time. A new identity cuts the tie to what was shared.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number}%</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{minutes} min {seconds} s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{hours} h {minutes} min</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{days} d {hours} h</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Aha</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tasks never solved here before, first solved after a peer&apos;s answer had been learned from: after, not because of.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It takes 64 unsolved tries, and a peer who can do it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>and %n earlier</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>{task}, round {round}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show both answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n own answers were wrong. In round {peer_round} a peer&apos;s answer was learned from; in round {round} an own one was right.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Mine, round {round}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>My question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>My answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>(not kept)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The peer&apos;s, {peer}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Questions are made up from the tasks in training.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model answers each question several times.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Each answer is marked by a program, here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Own answers are signed and handed to peers, where sharing is on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Peers&apos; answers are fetched, their questions made again and marked here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model is changed a little: towards what was right, away from what was wrong.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What was learned is written to disk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Questions that are never trained on show how much was learned.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only own answers. Nothing of peers is learned from, as in silo.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Two in eight questions come with peers&apos; answers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Half own, half peers&apos; (default).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Six in eight questions come with peers&apos; answers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of eight questions {own} with own answers, {external} with peers&apos;</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Guarded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Positive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shaped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Capable</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As in the paper</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Right answers only. They weigh more, the less often this computer finds one itself (default).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Right answers only. They weigh more, the rarer they are among the answers they came with.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As guarded, and what this model would hardly have written counts more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As guarded, and peers that are better at a task than this computer count more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Right and wrong answers count as own ones do. A peer can then give its answers more weight.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Right</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Partly right</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Wrong</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unreadable</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Took too long</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Marker failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The marker takes it for right.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Partly right: the marker gives it {points} of 1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It has the form of an answer, but the marker takes it for wrong.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What it gives as its answer does not have the form that this task asks for. No marker saw it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It ends without an answer, often at the token limit.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Marking it took too long and was given up. It counts as wrong.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The marker could not handle it. It counts as wrong.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reward {reward}, advantage {advantage}: learning made it likelier.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reward {reward}, advantage {advantage}: learning made it less likely.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reward {reward}, advantage 0: it taught nothing new, or is not learned from.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reward {reward}, advantage 0: all answers to its question were equally good.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>you</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>peer {key}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>person at {key}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>easy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>middle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>paper</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>up in round {round}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>down in round {round}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unknown task {id}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The peer&apos;s question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The peer&apos;s answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All that this node draws comes from one source: its view of the swarm may be made up.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>My reward</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The swarm&apos;s reward</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Held-out score</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers given</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drawn by peers</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>mean of the last %n round(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>not measured yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{low} to {high}, measured on %n peer(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>{gain} since the start</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of the model as it came</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on this computer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>by this computer&apos;s model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of my groups; their claim</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Does it learn?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chart of my reward, the swarm&apos;s and the held-out score</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rounds shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show as a table</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No round yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The first point appears here when the first round is done, within a minute or so.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>my reward, mean of %n rounds</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>the swarm&apos;s, with its 95% interval</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>held-out score</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the model as it came</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Questions get harder as they are solved, so the reward may fall while the model learns. The held-out score keeps its questions.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same numbers as a table, for the keyboard, a screen reader or the clipboard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Solved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Swarm&apos;s reward</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>to</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>silo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>swarm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Round</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Peers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Played in</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Alone and with the swarm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A look back at this computer&apos;s own rounds. They were played at different times, so this is no experiment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rounds in silo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rounds with the swarm</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>From %n rounds on there is a number here.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>mean reward {reward}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{reward}, {gain} in 100 rounds</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Task by task</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of own answers that solved the question, in the newest rounds.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing marked yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Each task gets its own small chart here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open SAPO Desktop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause for</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>15 minutes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>3 hours</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Until tomorrow</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Finish this round, then pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Silo: no network at all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Passphrase</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Once more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Type the passphrase first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>A passphrase has at least %n characters.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>The two differ. Type the same one twice.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A passphrase is needed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close this message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Home</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In silo every answer is an own one. Leave silo to choose here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mix</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tasks</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Parts of this page</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learned from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Refused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put one question to the model as it came and as it is now, and see what training has changed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The last {number} questions since this window was opened. Choose one to see its answers again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tried so far</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>me</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As it came</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As it is now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What you change takes effect at once, unless it says otherwise.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node is not running just now: nothing can be changed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n setting(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>No setting has “{text}” in its name, its sentence or its key.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every setting is at its default.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Changed ({number})</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Publish answers?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Publish from now on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>These go back to their defaults: {names}. What was learned, the history and the identity stay.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset all settings?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the node said, and what it wrote down while it worked.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Diagnostics file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What to show</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Notices</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search the log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Silo: no network at all. Nothing leaves this computer, and nothing comes in.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Silo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No network at all, effective at once</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Welcome to SAPO Desktop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step {number} of {count}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node is starting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start contributing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start learning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let this computer learn to reason</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A small language model on your computer answers puzzles, marks its own answers and learns from them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It runs here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model, questions and marks are all on this computer. There is no account.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It can learn with others</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Computers share answers as text, never weights or files, and each one checks every answer itself.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You are in charge</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause at any time. It gives way to your other programs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What leaves this computer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Alone: nothing at all. With the swarm, if you share: messages like this, and nothing else of yours.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A message as it would be sent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The message is being made ...</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Who can see what</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A relay sees your internet address beside the key of this computer. Peers see the key and the answers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A real message of {size}. Nothing was sent.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A real message of {size}, signed with a key that was thrown away. Nothing was sent.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The message cannot be shown now: {reason}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How gentle should it be?</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>This computer has %n core(s). All of this can be changed at any time.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Barely there</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a quarter of the cores</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Alone. No network at all.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Swarm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learn from the answers of other computers too.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Network</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Server elsewhere</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Storage</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How this window looks, and what closing it means.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How much of this computer the node takes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Who the node talks to, and what it says.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is asked, what counts, and how the model changes. The defaults are what was tried most.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Which model learns, and what computes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers from a server of yours, with `generator` set to it. Training stays here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where models come from and are kept, and how much is written.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Language</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Colours</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close to the tray</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>When the window goes away</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Threads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Low priority</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On battery</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory left free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Label</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seed list</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Local network</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private addresses</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Blocked peers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Listen at</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Announced address</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Proxy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Admission</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weight of peers&apos; answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers to a question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Questions in a step</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reward</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Held-out questions every</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is trained</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adapter&apos;s rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learning rate&apos;s half-life</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pull to the base model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps in a round</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers at once</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weights for answering</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What learns</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Device</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Server&apos;s address</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Server&apos;s model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder for what is learned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Key over plain http</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Source of models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Written in a day</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The window&apos;s language; auto: the system&apos;s, where it has it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The window&apos;s colours; system: as the desktop&apos;s.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The window&apos;s text size in percent.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Closing the window leaves it in the tray, where there is one; else it is minimised.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the worker does when the window or terminal that started it goes away.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Threads for computing; 0: half the cores.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give way to every other program.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What a working node does when the computer loses its power supply.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GB of free memory that this node leaves to other programs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No network at all.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Publish own answers to the swarm: under CC0, for everybody, not to be called back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A name that stands beside shared answers; no secret.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Begin with the seed list of this release, in the swarm.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find nodes on the local network, and show this one there.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take loopback and home addresses for as good as public ones: a swarm in one house.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Peers to keep links to, by comma: wss://HOST:PORT#KEY.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keys of peers to have nothing to do with, by comma.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>HOST:PORT to take links at; empty: this node only dials.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Address to tell other peers, wss://HOST:PORT, so that they dial this node.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Proxy for links to peers: http:// or socks5h://; empty: the environment&apos;s; off: none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Admission key of the private swarm to be in; empty: the public one. Set by peers join, found.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What admits this node&apos;s key to the private swarm. Set by peers join.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Families to train on, with or without a level, by comma; &apos;all&apos; for every family.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move each task up above 70% solved and down below 20%.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Own groups / external groups per step, scaled to its size; in silo all are own.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How external groups are weighed: guarded learns from right answers only, paper from all.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers per question (L).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Groups in a training step (I + J); 0: the model&apos;s recommended number.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Longest answer in tokens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sampling temperature while training.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>strict: 1 if solved, else 0. partial: the marker&apos;s own score.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rounds between validation scores; 0: none (no guard, no best checkpoint).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Train a LoRA adapter, or all weights (tiny models).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rank of the adapter.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adam&apos;s learning rate; 0: the model&apos;s recommended one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rounds until the learning rate is half; a tenth is the least. 0: the model&apos;s recommended.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weight of the KL term to the base model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Optimiser steps per round.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers per forward pass; memory and time only.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Repeats a silo run exactly; 0 draws one at first start.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&apos;starter&apos;, an installed model&apos;s name, a transformers folder, or a GGUF file (only answers).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What answers: torch, as it learns; llama.cpp beside it; remote: the server at remote_url; auto: torch where it learns, else llama.cpp.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Number format of the weights that llama.cpp answers with, where they are converted here; auto: q8_0, from a billion parameters on q4_k_m.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What learns. none: answers only; auto: torch, and none of a GGUF file or where only answering fits into memory.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where torch computes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A server with OpenAI&apos;s protocol that answers, not in silo: http://HOST:PORT.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>That server&apos;s name of the model; empty: the one it has.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A folder that the server sees under the same path, for what is learned; empty: answers only.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send the server&apos;s key over plain http:// to another machine too, where it can be read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where models are kept: a folder&apos;s full path; empty: one that all this user&apos;s nodes share.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where models come from: a mirror&apos;s address; empty: HF_ENDPOINT&apos;s, else the public hub.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checkpoints kept beside base and best.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Most that checkpoints may write a day, in GB.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As the system</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Light</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>adaptive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Right or not</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The marker&apos;s score</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>LoRA adapter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>automatic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>server elsewhere</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nothing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>processor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>half the cores</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as the model&apos;s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>never</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> rounds</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Diligent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all cores but one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give way to every other program</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause on battery</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Alone or with others?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One switch changes it later, within a second.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share my model&apos;s answers too (public domain)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Others know it by its key. There is no name and no account.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>My key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy my key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>My address</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy my address</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep it behind a passphrase</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is in a file that your passphrase closes. Open it to join the swarm.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The key is kept in a file that this passphrase closes. Without it nobody can open the file again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It opens the file with this node&apos;s key.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This node&apos;s key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It listens: others can link to it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It listens nowhere: it dials others, and none can dial it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share this node&apos;s answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is published</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whoever this node links to sees its internet address beside its key, shared or not.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Published for good, in the public domain (CC0).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is shared. This node draws others&apos; answers and learns from them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Publish answers from now on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Address or invite link, if somebody gave you one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kept addresses</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This node keeps links to these, besides those that it finds.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An address is like wss://relay.example:8765</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Address</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Test</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Blocked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This node has nothing to do with these keys.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nobody is blocked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A peer is blocked from the list of links.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unblock</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An address that somebody runs a node or relay at, or an invite link of a private swarm.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Test the connection</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With #KEY at its end only that node is accepted there. An invite begins with sapo://</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Address or invite link</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go there</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This node goes to the private swarm {key}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{program} answers there in {latency}, with key {key}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dialling {address}</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>It leads to the private swarm {key}, by %n address(es).</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>It admits one key; this node&apos;s, if it was made for it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It admits nobody: its founder has to admit this node&apos;s key.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Addresses of the swarm that this node is in now are given up.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model that comes with the app is ready at once.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It takes {size} of memory.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{model} would fit this computer too: the page Model downloads it when you like.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Starting the node again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Starting the node</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node stopped: {reason} It is started again in {seconds} s.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node was ended. Nothing is computed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Starting again after a failure</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ready. Nothing is computed until you say so.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training round {round}, alone</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Training round {round}, %n peer(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Answering round {round}; nothing is trained, since the model can only answer here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Finishing round {round}, then pausing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused by you</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused by you until {time}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused after round {round}, as you asked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused: on battery</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Done: round {round} was the last one ordered</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Stopped after %n failure(s) in a row: {reason}</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Ending</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Learn alone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on despite battery</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer a question yourself</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your answer is marked like the model&apos;s, and the model learns from it. It is said before you give it where it goes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ask me a question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Setting a question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your reasoning, if you like</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give the answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One moment</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The answer is {form}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Publish the answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{task}, {time} left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The time for this question is over. Ask for another one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Marking, and letting the model answer too</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The right answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was published.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was not published.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model learns from it in one of its next rounds.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model did not answer beside you.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>The model answered beside you: {right} of %n right.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Let the model learn on this computer. No network is used.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let the model learn on this computer, with its peers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End the pause.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop computing at once. The round in hand is kept and goes on later.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start the node.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node is being started or ended.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Setting questions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answering</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A sum</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A word spelled backward</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bits of a number</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Partly right, {score}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Comes after the other one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting: the node is paused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Writing, %n token(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Marking</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped by you</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Could not be marked: {reason}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No answer: {reason}</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>{tokens} in {time}, {speed} a second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sharing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drawing peers&apos; answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saving</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Held-out questions</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In silo: no network at all.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Looking for peers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No peers yet: it trains on its own answers meanwhile.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Linked to %n peer(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>No link to the swarm: {reason}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SAPO Desktop, in silo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>SAPO Desktop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pick an answer to read it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>round {round}, {who}</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Show the peer&apos;s text, %n character(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Hide the peer&apos;s text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The answers are being read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show earlier ones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From anybody</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Peers&apos;</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Persons&apos;</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Any mark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Task</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Any task</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whose</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search in questions and answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show new ones</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writes everything that passes the filters to a file, a JSON object a line.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Advantage</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Above 0 learning made it likelier, below 0 less likely</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The answers could not be read: {reason}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing to show</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The answers stand here when the node runs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None passes the filters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose any task, any mark and anybody to see all.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No answers yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every answer that is learned from stands here, from the first round on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n answer(s), newest first</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Export answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exporting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exported to {path}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing was exported: {reason}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Practise this task</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share solved, round by round</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The last task stays on: with none there is nothing to learn.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try a question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pick a task to see its levels.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share solved at {level}, in the newest rounds</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rounds ask for this level now</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{share} of %n</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>What it did here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No round was looked at yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>In the newest %n round(s).</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>They were played at different times, so this is no experiment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mean reward</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In 100</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How much the reward rose in 100 such rounds</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From peers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of the groups that came from peers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Own and peers&apos; answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of eight questions, how many are learned from with whose answers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mix of own and peers&apos; answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adaptive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The held-out score decides: the rounds between two scores are played with one of the four mixes, and those under which it rose come more often.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>peers&apos;</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rounds by mix</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No held-out score is taken (validate_every is 0), so rounds are played 4/4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Now {mix}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What peers&apos; answers weigh</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every one of them is marked here first. This is about what comes after.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rounds by treatment</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weighed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Peers are strangers: what breaks the rules, cannot be checked or is not of use is left out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Refused groups</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The refused groups are being read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>When</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Why</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The refused groups could not be read: {reason}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Refused groups stand here when the node runs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None refused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In silo nothing comes in, so there is nothing to refuse.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A group of a peer that is not taken stands here with the reason.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pick a group to see why.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers of the refused group</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{task}, from {peer}, {time}</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Show the peer&apos;s %n answer(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Hide the peer&apos;s answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where a round&apos;s time goes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Phases of a round</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>When a round runs, its phases stand here: setting questions, answering, marking, learning.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Round {round}, now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Round {round}, the last one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Point at a phase to see what happens in it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mean of the last rounds: from the first finished one on</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Mean of the last %n round(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Phase</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This round</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mean</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What happens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What a round learns from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A group is one question with its answers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A round takes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Own groups</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Peers&apos; groups</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Taught nothing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cut off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in a round</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of the groups: all answers equally good</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>of own answers, at the limit of %n token(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>in silo there are none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in a round, of {wanted} asked for</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answered just now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This computer&apos;s own answers, as they are marked.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>While a round runs, its answers pass by here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every question is made up by a program and marked by one. Pick a task to change it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Curriculum</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Practise all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node is asked for its tasks.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Moves each task up a level above 70% solved and down below 20%.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Off: each task stays at the second of its levels.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tasks could not be read</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>They are asked for again when this page is opened.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tasks stand here when the node runs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another choice of tasks is saved. It holds from the node&apos;s next start on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Practised</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The levels that rounds ask for now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of own answers in the newest rounds</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Own answers in the newest rounds</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Last move</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>When its level changed, in the newest 1000 rounds</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Versions, the system, the model at work and its limits</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The settings; of those that are typed as text only whether there is one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The last 200 lines of the log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your name and this computer&apos;s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Addresses, keys, tokens and invites</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your folders&apos; names</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was written, and nothing was sent.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where it lies</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Left out, or replaced by a word for it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private data is taken out by rules: look through the file before you pass it on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the path</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Read again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Previous hit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next hit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The end of the log file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the log</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing found</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{at} of {number}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The log is empty.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The log was copied. It may name folders and addresses of yours.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Levels shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warnings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Errors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy selected</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Level</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Notice</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The whole notice</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n notice(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>No notice of this level has these words.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing to report</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What goes wrong, and what the node changes by itself, is told here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a line to read all of it here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n notice(s) copied.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Information</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Error</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a peer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The peers&apos; clocks differ from this computer&apos;s by {span}: look at its clock.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In silo there are no peers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No network is used at all. Outside of silo this node draws others&apos; answers, checks every one itself and learns from them. Its own answers are published only if you switch on sharing.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave silo</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No node, no peers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Groups shared</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Groups drawn</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In the pool</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Receiving</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sending</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of this node&apos;s own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sharing is switched off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{count} fit to learn from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>others&apos; groups, ready to be drawn</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{size} over these links</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Links</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Details</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Block</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No peer is linked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training goes on alone. Add a peer by its address, or follow an invite.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Peer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Direction</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Who dialled whom</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Latency</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of the last question that was answered over it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Groups in</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What broke the rules or could not be checked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draws</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of the groups drawn lately that came over it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Linked for</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Peer {key}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its address</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the address</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not taken from it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What it says of itself. Nobody checked it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep its address</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This node closes the link, and takes and sends nothing more of its key. It can be taken back under Blocked.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Block peer {key}?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This node dialled it. Linked for {span}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It dialled this node. Linked for {span}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Groups out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of my draws</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Received</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Program: {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It has not said how far it is.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n of this node&apos;s groups used</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>round {round}, reward {reward}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Label: {label}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Private swarm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The swarm&apos;s key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the swarm&apos;s key</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Found one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow an invite</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Admit somebody</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make an invite</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to the public swarm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This node talks to the members of one private swarm only, and learns from nobody else.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For people who know each other: its members talk to each other only. This node is in the public one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This node then talks only to those whom you admit, and gives up the addresses that it keeps now. You can go back to the public swarm at any time.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Found a private swarm?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Found it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This node is in its own private swarm. Admit others by their keys.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The addresses of the private swarm are given up. To come back, follow an invite.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go back to the public swarm?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Invite to this swarm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The link tells the way and admits nobody. Who follows it tells you a key, which the founder admits.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only the founder can. A link is made that admits one key; it is no secret and helps nobody else.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For good</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A week</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A month</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A year</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Admitted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make the link</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>64 digits. It stands on the Peers page of the newcomer&apos;s window.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An admission cannot be called back before its end.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Invite link</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the link</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not taken</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kind</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Count</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reason</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Everything is checked here. What is invalid counts against its sender. What is unverifiable may be our own version&apos;s fault, and what is ignored is nobody&apos;s.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing was refused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Since this node joined the swarm.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{count} from version {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>that was not named</source>
        <comment>version</comment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Questions that came out differently here: {list}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from the next start on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>set by the command line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{title}: back to the default</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to the default: {value}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{title}: show it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{title}: choose a folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>empty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model as it came</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model as it is now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing has been learned here yet: both are the same model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing asked yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ask a question above, take one from a task, or begin with one of these.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The right answer: {answer}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Neither answer was marked.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The right answer is shown when both are there.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where the question comes from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>my own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a task&apos;s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Type a question. A small model knows little of the world; it has practised riddles like the tasks&apos;.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How each word is chosen</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the likeliest</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>drawn</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same answer every time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As in training: another answer every time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ask both</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Question:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Each word:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node is not running just now: it cannot answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draw a question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The task&apos;s question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The question is shown here before anybody answers it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asked for: {form}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In training now; not answered lately.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not in training now.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In training now; {share} of the newest answers solve it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not in training now; {share} of the newest answers solved it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>I dialled</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it dialled</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{size}/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} ms</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its secret half is in this computer&apos;s keyring.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its secret half is in a file that your passphrase closes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its secret half is kept nowhere: this identity ends with the node.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is none yet. It is made when the node first joins the swarm.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Invalid</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unverifiable</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ignored</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was larger than any message may be.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was no message of this protocol.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A message had fields of the wrong kind.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A message came at the wrong moment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Messages came more often than agreed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More was sent than this node had granted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A packed batch could not be unpacked, or was too large.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The signature does not belong to the named author.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It answered a question that nobody had asked.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A peer handed on as its own what another had signed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was signed, but what was signed is not well formed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was signed for another swarm.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its author is not admitted to this private swarm.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An answer had signs that no answer to this task needs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its author signed two different things for one place.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its author sent more than one identity may.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The question came out differently here: the peer has another version of the tasks.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking it took longer than strangers are given.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It came too late to be of use.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is dated in the future: a clock is wrong, here or there.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was here already.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A message of a kind that this version does not know.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A task that this version does not know.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A task that this node does not train on or share.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was this node&apos;s own, come back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its author or the peer is shut out for a while, after breaking the rules.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There was no more room for its source.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its question is among the held-out ones, which are never trained on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model cannot learn from it: too long, or not of the form it is taught.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A stranger named an address of a private network.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There was no time left to check it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your answer is published with the model&apos;s beside it, under this node&apos;s key, in the public domain (CC0): anybody may keep it and pass it on, and it cannot be called back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your answer stays on this computer, where the model learns from it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Partly right: {share}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not of the form that this task asks for</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Marking took too long</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It could not be marked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>breaks the rules</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot be checked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not of use</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It breaks the rules, and counts against the peer that signed it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It could not be checked here. Another version on either side may be why, so nobody is blamed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is nobody&apos;s fault, and counts against nobody.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>malformed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is not written as a group of answers has to be.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of another swarm</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not admitted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>forbidden signs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A text in it is too long, or holds signs that an answer may not have.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>two under one name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its author signed two different groups under one name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unknown task</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It answers a task that this version does not have.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>not shared here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers to this task are not taken from peers: they are slow to check.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a held-out question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its question is kept for measuring and must never be trained on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of no use to learn</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No answer in it has the form in which this model answers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>another question here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The question came out otherwise here than at the peer&apos;s: its library has another version.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>took too long</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking it took too long and was given up.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>

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
        <source>unknown</source>
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
        <source>in silo there is none</source>
        <translation type="unfinished"></translation>
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
        <source>Cancel</source>
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
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log</source>
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
        <source>Gentle</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>half the cores</source>
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
        <source>Silo: alone. No network at all.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Swarm: learn from the answers of other computers too.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share my model&apos;s answers too (public domain)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is published</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Address or invite link, if somebody gave you one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Address or invite link</source>
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
        <source>One moment</source>
        <translation type="unfinished"></translation>
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
        <source>Marking</source>
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
</context>
</TS>
